#include "tests/runtime/nccl/bare_mean.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace cohort {
namespace {

template <class Result>
void must(Result result, const char* call) {
  const int code = static_cast<int>(result);
  if (code != 0) throw std::runtime_error(std::string(call) + ": code " + std::to_string(code));
}

}  // namespace

struct BareMean::State {
  float share = 1;
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  cublasHandle_t cublas = nullptr;
};

std::vector<std::uint8_t> BareMean::rendezvous() {
  ncclUniqueId id{};
  must(ncclGetUniqueId(&id), "ncclGetUniqueId");
  std::vector<std::uint8_t> bytes(sizeof id);
  std::memcpy(bytes.data(), &id, sizeof id);
  return bytes;
}

BareMean::BareMean(std::uint32_t rank, std::uint32_t ranks,
                   const std::vector<std::uint8_t>& rendezvous)
    : state_(std::make_unique<State>()) {
  ncclUniqueId id{};
  std::memcpy(&id, rendezvous.data(), sizeof id);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  state_->share = 1.0F / static_cast<float>(ranks);
  must(ncclCommInitRankConfig(&state_->communicator, static_cast<int>(ranks), id,
                              static_cast<int>(rank), &config),
       "ncclCommInitRankConfig");
  must(cudaStreamCreateWithFlags(&state_->stream, cudaStreamNonBlocking),
       "cudaStreamCreateWithFlags");
  must(cublasCreate(&state_->cublas), "cublasCreate");
  must(cublasSetStream(state_->cublas, state_->stream), "cublasSetStream");
}

BareMean::~BareMean() {
  cublasDestroy(state_->cublas);
  ncclCommAbort(state_->communicator);
  cudaStreamDestroy(state_->stream);
}

void BareMean::run(float* entries, std::size_t count) {
  must(ncclAllReduce(entries, entries, count, ncclFloat, ncclSum, state_->communicator,
                     state_->stream),
       "ncclAllReduce");
  must(cublasSscal_64(state_->cublas, static_cast<std::int64_t>(count), &state_->share, entries, 1),
       "cublasSscal");
  while (cudaStreamQuery(state_->stream) == cudaErrorNotReady) {
  }
}

}  // namespace cohort
