// Vectors in the memory of a GPU: cuBLAS and CUDA on one stream of their own.
//
// That stream is not the transport's. A collective that waits for a slow peer must hold up neither
// a local step's update nor a read, so vectors and transport run side by side and are ordered where
// it matters: before each launch the transport's stream follows this one (what was queued here is
// in the payload), and who uses a result queues that only after the transfer's test() said that it
// is over.
//
// Calls come from one thread at a time, as runtime/vector_unit.h says. free() never waits for the
// GPU.
#pragma once

#include <cublas_v2.h>

#include "runtime/nccl/gpu.h"
#include "runtime/vector_unit.h"

namespace cohort {

class DeviceVectors : public VectorUnit {
 public:
  // `gpu` outlives this. Throws EnvironmentError.
  explicit DeviceVectors(const Gpu& gpu);

  [[nodiscard]] float* allocate(std::size_t count) override;
  void free(float* entries) override;
  void copy(const float* from, float* to, std::size_t count) override;
  void scale(double factor, float* entries, std::size_t count) override;
  void add(double factor, const float* from, float* to, std::size_t count) override;
  void descend(const SgdOptions& options, double rate, const Descent& descent) override;
  void write(std::span<const float> from, float* to) override;  // waits until `from` is read
  void read(const float* from, std::span<float> to) override;
  [[nodiscard]] std::unique_ptr<Request> fence() override;

  [[nodiscard]] const GpuStream& stream() const { return stream_; }
  // Queues on that stream.
  [[nodiscard]] cublasHandle_t cublas() const { return cublas_.get(); }

 private:
  class CublasHandle {
   public:
    CublasHandle(const Gpu& gpu, const GpuStream& stream);
    ~CublasHandle();
    CublasHandle(const CublasHandle&) = delete;
    CublasHandle& operator=(const CublasHandle&) = delete;
    [[nodiscard]] cublasHandle_t get() const { return handle_; }

   private:
    cublasHandle_t handle_ = nullptr;
  };

  void move(const void* from, void* to, std::size_t count, cudaMemcpyKind kind);

  const Gpu& gpu_;
  GpuStream stream_;
  CublasHandle cublas_;
};

}  // namespace cohort
