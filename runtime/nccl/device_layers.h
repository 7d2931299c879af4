// The layers of training/layers.h and training/conv_layer.h on a GPU, for batches of one size:
// products by cuBLAS in fp32 (its default mode rounds no factor to TF32), all else by the kernels
// of runtime/nccl/device_kernels.h. Parameters in the same order; matrices column-major, one sample
// a column. Everything queues on one stream; nothing waits, nothing allocates in a step.
#pragma once

#include <cublas_v2.h>

#include <memory>
#include <span>

#include "runtime/nccl/device_array.h"
#include "runtime/nccl/device_kernels.h"
#include "training/model.h"

namespace cohort {

// Where layers queue their work. What it refers to outlives it.
class DeviceWork {
 public:
  DeviceWork(const Gpu& gpu, const GpuStream& stream, cublasHandle_t cublas)
      : gpu_(gpu), stream_(stream), cublas_(cublas) {}

  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  [[nodiscard]] const GpuStream& stream() const { return stream_; }
  template <typename T>
  [[nodiscard]] DeviceArray<T> array(long count) const {
    return {gpu_, stream_, static_cast<std::size_t>(count)};
  }
  template <typename T>
  [[nodiscard]] DeviceArray<T> copy(std::span<const T> values) const {
    return {gpu_, stream_, values};
  }

  template <class Body>
  void each(long count, const Body& body) const {
    check(for_each(count, body, stream_.handle()), "a kernel", gpu_.site());
  }

  // A dense matrix, or its transpose; `rows` is that of the matrix as it lies in memory.
  struct Factor {
    const float* entries = nullptr;
    long rows = 0;
    bool transposed = false;
  };
  struct Size {
    long rows = 0;
    long columns = 0;
    long inner = 0;
  };
  // product = left * right.
  void multiply(const Size& size, const Factor& left, const Factor& right, float* product) const;

 private:
  const Gpu& gpu_;
  const GpuStream& stream_;
  cublasHandle_t cublas_;
};

// What a layer's gradient needs beside its parameters: input and output of the last forward(), and
// the output's gradient, which is used up.
struct LayerTrace {
  const float* x = nullptr;
  const float* y = nullptr;
  float* dy = nullptr;
};

class DeviceLayer {
 public:
  virtual ~DeviceLayer() = default;
  [[nodiscard]] virtual long parameters() const = 0;
  [[nodiscard]] virtual long outputs() const = 0;  // of one sample
  virtual void forward(const float* parameters, const float* x, float* y) = 0;
  // `dx` may be null: not wanted.
  virtual void backward(const float* parameters, const LayerTrace& trace, float* gradient,
                        float* dx) = 0;
};

// `work` outlives the layer.
[[nodiscard]] std::unique_ptr<DeviceLayer> make_device_dense(const DeviceWork& work, long batch,
                                                             long inputs, long outputs, bool relu);
// Convolution, pooling, bias, ReLU.
[[nodiscard]] std::unique_ptr<DeviceLayer> make_device_conv(const DeviceWork& work,
                                                            const ConvShape& shape);

}  // namespace cohort
