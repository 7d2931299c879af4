// The parts models are made of: a dense layer, ReLU and the softmax loss, on dense buffers of the
// caller. Matrices are column-major, one sample a column. Nothing here allocates.
#pragma once

#include <cstdint>
#include <span>

#include "policies/random.h"
#include "training/model.h"
#include "training/products.h"

namespace cohort {

// y = W x + b. Parameters: W (outputs x inputs, row by row), then b.
template <typename T>
struct DenseLayer {
  long inputs = 0;
  long outputs = 0;

  [[nodiscard]] std::size_t parameters() const {
    return static_cast<std::size_t>(outputs) * static_cast<std::size_t>(inputs + 1);
  }
  void forward(const T* parameters, const T* x, long batch, T* y) const;
  // Gradient of the parameters from that of y.
  void backward(const T* x, const T* dy, long batch, T* gradient) const;
  // Gradient of x from that of y.
  void backward_input(const T* parameters, const T* dy, long batch, T* dx) const;
};

// Weights and biases of one layer, as in DenseLayer: uniform in +-1/sqrt(inputs), PyTorch's
// default, each output from a stream of its own; `layer` counts the layers of a model.
template <typename T>
void initialise_layer(std::uint64_t seed, std::uint32_t layer, long inputs,
                      std::span<T> parameters);

// NaN stays NaN.
template <typename T>
void relu(T* y, long count);
// Zeroes the gradient where the output of the ReLU was zero.
template <typename T>
void relu_backward(const T* y, T* dy, long count);

// Sum over the batch of -log softmax(logits)[label], and how many labels have the largest logit.
// With `gradient` true, the logits are replaced by the gradient of the mean loss.
template <typename T>
[[nodiscard]] Evaluation softmax_loss(T* logits, long classes, const Batch<T>& batch,
                                      bool gradient);

}  // namespace cohort
