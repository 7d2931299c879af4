#include "runtime/nccl/gpu.h"

#include <array>
#include <limits>

#include "policies/errors.h"

namespace cohort {
namespace {

int count_gpus(const Site& site) {
  int count = 0;
  const auto result = cudaGetDeviceCount(&count);
  if (result != cudaErrorNoDevice) check(result, "cudaGetDeviceCount", site);
  if (count == 0) {
    throw EnvironmentError("rank " + std::to_string(site.rank) +
                           " finds no GPU on its host: the nccl backend needs one for each rank "
                           "(is CUDA_VISIBLE_DEVICES empty?)");
  }
  return count;
}

std::string bus_id(int index, const Site& site) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), index),
        "cudaDeviceGetPCIBusId", site);
  return text.data();
}

std::string uuid(int index, const Site& site) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties", site);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : properties.uuid.bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

// Buffers come and go with synchronisations: what is freed stays with the process.
void keep_freed_memory(int index, const Site& site) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, index), "cudaDeviceGetDefaultMemPool", site);
  auto threshold = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
        "cudaMemPoolSetAttribute", site);
}

}  // namespace

Gpu::Gpu(std::uint32_t rank, std::uint32_t local_rank) : site_{rank, ""} {
  count_ = count_gpus(site_);
  index_ = static_cast<int>(local_rank % static_cast<std::uint32_t>(count_));
  site_.gpu = bus_id(index_, site_);
  name_ = site_.gpu + " " + uuid(index_, site_);
  use();
  check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "cudaSetDeviceFlags", site_);
  keep_freed_memory(index_, site_);
}

void Gpu::use() const { check(cudaSetDevice(index_), "cudaSetDevice", site_); }

GpuEvent::GpuEvent(const Gpu& gpu, Use use) : gpu_(gpu) {
  const auto timing = use == Use::Order ? cudaEventDisableTiming : cudaEventDefault;
  check(cudaEventCreateWithFlags(&handle_, cudaEventBlockingSync | timing),
        "cudaEventCreateWithFlags", gpu_.site());
}

GpuEvent::~GpuEvent() { cudaEventDestroy(handle_); }

bool GpuEvent::reached(const std::string& doing) const {
  const auto result = cudaEventQuery(handle_);
  if (result == cudaErrorNotReady) return false;
  check_sync(result, "cudaEventQuery", gpu_.site(), doing);
  return true;
}

void GpuEvent::wait() const {
  check(cudaEventSynchronize(handle_), "cudaEventSynchronize", gpu_.site());
}

float GpuEvent::milliseconds_since(const GpuEvent& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, earlier.handle_, handle_), "cudaEventElapsedTime",
        gpu_.site());
  return milliseconds;
}

GpuStream::GpuStream(const Gpu& gpu) : gpu_(gpu) {
  check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        gpu_.site());
}

GpuStream::~GpuStream() { cudaStreamDestroy(handle_); }

void GpuStream::record(const GpuEvent& event) const {
  check(cudaEventRecord(event.handle(), handle_), "cudaEventRecord", gpu_.site());
}

void GpuStream::follow(const GpuStream& other) const {
  const GpuEvent there(gpu_, GpuEvent::Use::Order);
  other.record(there);
  check(cudaStreamWaitEvent(handle_, there.handle(), 0), "cudaStreamWaitEvent", gpu_.site());
}

void GpuStream::wait() const {
  check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize", gpu_.site());
}

}  // namespace cohort
