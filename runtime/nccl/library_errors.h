// What CUDA, cuBLAS and NCCL answer, as errors of ours.
//
// check() throws EnvironmentError, check_sync() SyncFailure: the same text, which names the call,
// the rank and its GPU, the line that made the call and the library's own words. ncclInProgress is
// no error: communicators here never block, and their state is polled
// (runtime/nccl/communicator.h).
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdint>
#include <source_location>
#include <string>

namespace cohort {

// Who made a call.
struct Site {
  std::uint32_t rank = 0;
  std::string gpu;  // "" before one was picked
};

using Line = std::source_location;

void check(cudaError_t result, const char* call, const Site& site, Line line = Line::current());
void check(cublasStatus_t result, const char* call, const Site& site, Line line = Line::current());
void check(ncclResult_t result, const char* call, const Site& site, Line line = Line::current());

// `with`: what was being done and with whom.
void check_sync(cudaError_t result, const char* call, const Site& site, const std::string& with,
                Line line = Line::current());
void check_sync(ncclResult_t result, const char* call, const Site& site, const std::string& with,
                Line line = Line::current());

}  // namespace cohort
