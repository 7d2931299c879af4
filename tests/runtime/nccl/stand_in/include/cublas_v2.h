// TEST DOUBLE. The cuBLAS calls that the nccl backend uses; see cuda_runtime_api.h beside this.
#pragma once

#include <cstdint>

#include "cuda_runtime_api.h"

using cublasHandle_t = struct cublasContext*;

enum cublasStatus_t : int {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
};
enum cublasOperation_t : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

extern "C" {
const char* cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);

// Vectors without gaps alone (increments of 1).
cublasStatus_t cublasSscal_64(cublasHandle_t handle, std::int64_t n, const float* alpha, float* x,
                              std::int64_t incx);
cublasStatus_t cublasSaxpy_64(cublasHandle_t handle, std::int64_t n, const float* alpha,
                              const float* x, std::int64_t incx, float* y, std::int64_t incy);
// Takes time and computes nothing.
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k, const float* alpha,
                           const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc);
// Computes.
cublasStatus_t cublasSgemm_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, std::int64_t m, std::int64_t n,
                              std::int64_t k, const float* alpha, const float* a, std::int64_t lda,
                              const float* b, std::int64_t ldb, const float* beta, float* c,
                              std::int64_t ldc);
}
