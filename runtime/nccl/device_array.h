// Entries of any type in the memory of a GPU, beside the floats of runtime/vector_unit.h: what a
// model holds there. All calls queue on the stream it was made with, which outlives it.
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "runtime/nccl/gpu.h"

namespace cohort {

template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  // Its values are anything. Throws EnvironmentError when there is no room.
  DeviceArray(const Gpu& gpu, const GpuStream& stream, std::size_t count)
      : gpu_(&gpu), stream_(&stream), count_(count) {
    void* entries = nullptr;
    const auto bytes = std::max<std::size_t>(count, 1) * sizeof(T);
    check(cudaMallocAsync(&entries, bytes, stream.handle()), "cudaMallocAsync", gpu.site());
    entries_ = static_cast<T*>(entries);
  }
  // A copy of host memory; waits.
  DeviceArray(const Gpu& gpu, const GpuStream& stream, std::span<const T> values)
      : DeviceArray(gpu, stream, values.size()) {
    write(values);
    stream.wait();
  }
  ~DeviceArray() {
    if (entries_ == nullptr) return;
    cudaSetDevice(gpu_->index());
    cudaFreeAsync(entries_, stream_->handle());
  }
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(stream_, other.stream_);
    std::swap(entries_, other.entries_);
    std::swap(count_, other.count_);
    return *this;
  }

  [[nodiscard]] T* entries() const { return entries_; }
  [[nodiscard]] std::size_t count() const { return count_; }

  // `values` must stay as they are until the stream has come there.
  void write(std::span<const T> values) const {
    move(values.data(), entries_, values.size(), cudaMemcpyHostToDevice);
  }
  // As many as `values` holds; waits.
  void read(std::span<T> values) const {
    move(entries_, values.data(), values.size(), cudaMemcpyDeviceToHost);
    stream_->wait();
  }

 private:
  void move(const T* from, T* to, std::size_t count, cudaMemcpyKind kind) const {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream_->handle()), "cudaMemcpyAsync",
          gpu_->site());
  }

  const Gpu* gpu_ = nullptr;
  const GpuStream* stream_ = nullptr;
  T* entries_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace cohort
