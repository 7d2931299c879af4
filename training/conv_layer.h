// Convolution with zero padding (the image keeps its size), 2 x 2 max pooling, bias and ReLU in one
// layer, sample by sample through im2col, so that a sample's columns stay in the cache.
//
// Pooling comes before bias and ReLU: both are monotonic, so the result and the gradient are those
// of convolution + bias, ReLU, pooling, at a quarter of the work. Of equal values in a window the
// first wins. An odd last row or column is left out, as PyTorch does.
#pragma once

#include <cstdint>
#include <vector>

#include "training/model.h"

namespace cohort {

// Owns the scratch and the winners of one batch: one thread, forward before backward.
template <typename T>
class ConvLayer {
 public:
  ConvLayer(ImageShape input, std::uint32_t channels, std::uint32_t kernel);

  [[nodiscard]] ImageShape output() const;
  [[nodiscard]] long inputs() const { return column_; }  // of one output, before pooling
  [[nodiscard]] long outputs() const { return channels_; }
  [[nodiscard]] std::size_t parameters() const;

  // Images as ImageShape says, one after the other. Parameters: weights (channels x inputs(), row
  // by row; inputs ordered by input channel, row and column of the kernel), then biases.
  void forward(const T* parameters, const T* x, std::size_t batch, T* y);
  // For the batch of the last forward(), whose x and y must still be there; changes dy. dx may be
  // null: not wanted.
  void backward(const T* parameters, T* dy, T* gradient, T* dx);

 private:
  void spread(const T* image);
  void gather(T* image);
  void pool(const T* parameters, T* y, std::uint8_t* winners) const;
  void unpool(const T* dy, const std::uint8_t* winners);
  void shift_in(const T* image, long offset);
  void shift_out(T* image, long offset) const;

  ImageShape input_;
  long channels_;
  long kernel_;
  long pixels_;             // of one image plane
  long column_;             // input channels * kernel * kernel
  std::vector<T> shifted_;  // one plane with margins above and below, moved sideways
  std::vector<T> columns_;  // pixels x column
  std::vector<T> planes_;   // pixels x channels: before pooling, or its gradient
  std::vector<std::uint8_t> winners_;
  // Of the last forward().
  const T* x_ = nullptr;
  const T* y_ = nullptr;
  std::size_t batch_ = 0;
};

}  // namespace cohort
