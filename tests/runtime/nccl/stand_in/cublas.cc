// TEST DOUBLE of cuBLAS: see include/cublas_v2.h.
#include <chrono>
#include <thread>

#include "cublas_v2.h"
#include "cuda.h"
#include "settings.h"

struct cublasContext {
  int device = stand_in::current_device();
  cudaStream_t stream = nullptr;
};

namespace {

// A handle belongs to the device that was current when it was made.
cublasStatus_t answer(cublasHandle_t handle, const char* call) {
  if (stand_in::next_fault(call) != stand_in::Fault::None) return CUBLAS_STATUS_EXECUTION_FAILED;
  const bool right = handle->device == stand_in::current_device() && handle->stream != nullptr;
  return right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace

const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE" : "stand-in error";
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return answer(handle, "cublasSetStream");
}

cublasStatus_t cublasSscal_64(cublasHandle_t handle, std::int64_t n, const float* alpha, float* x,
                              std::int64_t) {
  const auto status = answer(handle, "cublasSscal");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  handle->stream->queue.post([=, factor = *alpha] {
    for (std::int64_t i = 0; i < n; ++i) x[i] *= factor;
  });
  return status;
}

cublasStatus_t cublasSaxpy_64(cublasHandle_t handle, std::int64_t n, const float* alpha,
                              const float* x, std::int64_t, float* y, std::int64_t) {
  const auto status = answer(handle, "cublasSaxpy");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  handle->stream->queue.post([=, factor = *alpha] {
    for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
  });
  return status;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int, int,
                           int, const float*, const float*, int, const float*, int, const float*,
                           float*, int) {
  const auto status = answer(handle, "cublasSgemm");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const std::chrono::microseconds taken(stand_in::setting("COHORT_STAND_IN_PRODUCT_US", 100));
  handle->stream->queue.post([taken] { std::this_thread::sleep_for(taken); });
  return status;
}

cublasStatus_t cublasSgemm_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, std::int64_t m, std::int64_t n,
                              std::int64_t k, const float* alpha, const float* a, std::int64_t lda,
                              const float* b, std::int64_t ldb, const float* beta, float* c,
                              std::int64_t ldc) {
  const auto status = answer(handle, "cublasSgemm");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const auto at = [](cublasOperation_t way, std::int64_t row, std::int64_t column,
                     std::int64_t rows) {
    return way == CUBLAS_OP_N ? row + column * rows : column + row * rows;
  };
  const auto entry = [=](std::int64_t i, std::int64_t j) {
    float sum = 0;
    for (std::int64_t l = 0; l < k; ++l) sum += a[at(transa, i, l, lda)] * b[at(transb, l, j, ldb)];
    return sum;
  };
  handle->stream->queue.post([=, one = *alpha, other = *beta] {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        auto& out = c[i + j * ldc];
        out = one * entry(i, j) + (other == 0 ? 0 : other * out);
      }
  });
  return status;
}
