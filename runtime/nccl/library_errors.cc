#include "runtime/nccl/library_errors.h"

#include <string_view>

#include "policies/errors.h"
#include "runtime/transport.h"

namespace cohort {
namespace {

bool good(cudaError_t result) { return result == cudaSuccess; }
bool good(cublasStatus_t result) { return result == CUBLAS_STATUS_SUCCESS; }
bool good(ncclResult_t result) { return result == ncclSuccess || result == ncclInProgress; }

std::string words(cudaError_t result) { return cudaGetErrorString(result); }
std::string words(cublasStatus_t result) { return cublasGetStatusString(result); }
std::string words(ncclResult_t result) { return ncclGetErrorString(result); }

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

template <class Result>
std::string complaint(Result result, const char* call, const Site& site, const Line& line) {
  const auto gpu = site.gpu.empty() ? "" : ", GPU " + site.gpu;
  return std::string(call) + " failed on rank " + std::to_string(site.rank) + gpu + " (" +
         base_name(line.file_name()) + ":" + std::to_string(line.line()) + "): " + words(result) +
         " (code " + std::to_string(static_cast<int>(result)) + ")";
}

template <class Result>
void check_any(Result result, const char* call, const Site& site, const Line& line) {
  if (!good(result)) throw EnvironmentError(complaint(result, call, site, line));
}

template <class Result>
void check_any_sync(Result result, const char* call, const Site& site, const std::string& with,
                    const Line& line) {
  if (!good(result)) throw SyncFailure(with + ": " + complaint(result, call, site, line));
}

}  // namespace

void check(cudaError_t result, const char* call, const Site& site, Line line) {
  check_any(result, call, site, line);
}
void check(cublasStatus_t result, const char* call, const Site& site, Line line) {
  check_any(result, call, site, line);
}
void check(ncclResult_t result, const char* call, const Site& site, Line line) {
  check_any(result, call, site, line);
}
void check_sync(cudaError_t result, const char* call, const Site& site, const std::string& with,
                Line line) {
  check_any_sync(result, call, site, with, line);
}
void check_sync(ncclResult_t result, const char* call, const Site& site, const std::string& with,
                Line line) {
  check_any_sync(result, call, site, with, line);
}

}  // namespace cohort
