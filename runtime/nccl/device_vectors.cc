#include "runtime/nccl/device_vectors.h"

#include <algorithm>

namespace cohort {
namespace {

class Fence : public Request {
 public:
  Fence(const Gpu& gpu, const GpuStream& stream) : event_(gpu, GpuEvent::Use::Order) {
    stream.record(event_);
  }
  bool test() override { return event_.reached("operations on vectors"); }

 private:
  GpuEvent event_;
};

}  // namespace

DeviceVectors::CublasHandle::CublasHandle(const Gpu& gpu, const GpuStream& stream) {
  check(cublasCreate(&handle_), "cublasCreate", gpu.site());
  try {
    check(cublasSetStream(handle_, stream.handle()), "cublasSetStream", gpu.site());
  } catch (...) {
    cublasDestroy(handle_);
    throw;
  }
}

DeviceVectors::CublasHandle::~CublasHandle() { cublasDestroy(handle_); }

DeviceVectors::DeviceVectors(const Gpu& gpu) : gpu_(gpu), stream_(gpu), cublas_(gpu, stream_) {}

float* DeviceVectors::allocate(std::size_t count) {
  gpu_.use();
  const auto bytes = std::max<std::size_t>(count, 1) * sizeof(float);
  void* entries = nullptr;
  check(cudaMallocAsync(&entries, bytes, stream_.handle()), "cudaMallocAsync", gpu_.site());
  check(cudaMemsetAsync(entries, 0, bytes, stream_.handle()), "cudaMemsetAsync", gpu_.site());
  return static_cast<float*>(entries);
}

void DeviceVectors::free(float* entries) {
  cudaSetDevice(gpu_.index());
  cudaFreeAsync(entries, stream_.handle());
}

void DeviceVectors::copy(const float* from, float* to, std::size_t count) {
  move(from, to, count, cudaMemcpyDeviceToDevice);
}

void DeviceVectors::scale(double factor, float* entries, std::size_t count) {
  gpu_.use();
  const auto alpha = static_cast<float>(factor);
  check(cublasSscal_64(cublas_.get(), static_cast<std::int64_t>(count), &alpha, entries, 1),
        "cublasSscal", gpu_.site());
}

void DeviceVectors::add(double factor, const float* from, float* to, std::size_t count) {
  gpu_.use();
  const auto alpha = static_cast<float>(factor);
  check(cublasSaxpy_64(cublas_.get(), static_cast<std::int64_t>(count), &alpha, from, 1, to, 1),
        "cublasSaxpy", gpu_.site());
}

// By scale and add: v is momentum * v + gradient + decay * x, then x -= rate * v.
void DeviceVectors::descend(const SgdOptions& options, double rate, const Descent& descent) {
  const auto& [gradient, parameters, velocity, count] = descent;
  if (options.momentum == 0) {
    if (options.weight_decay > 0) scale(1 - rate * options.weight_decay, parameters, count);
    return add(-rate, gradient, parameters, count);
  }
  scale(options.momentum, velocity, count);
  add(1, gradient, velocity, count);
  if (options.weight_decay > 0) add(options.weight_decay, parameters, velocity, count);
  add(-rate, velocity, parameters, count);
}

void DeviceVectors::write(std::span<const float> from, float* to) {
  move(from.data(), to, from.size(), cudaMemcpyHostToDevice);
  stream_.wait();
}

void DeviceVectors::read(const float* from, std::span<float> to) {
  move(from, to.data(), to.size(), cudaMemcpyDeviceToHost);
  stream_.wait();
}

std::unique_ptr<Request> DeviceVectors::fence() {
  gpu_.use();
  return std::make_unique<Fence>(gpu_, stream_);
}

void DeviceVectors::move(const void* from, void* to, std::size_t count, cudaMemcpyKind kind) {
  gpu_.use();
  check(cudaMemcpyAsync(to, from, count * sizeof(float), kind, stream_.handle()), "cudaMemcpyAsync",
        gpu_.site());
}

}  // namespace cohort
