// What one thread of each kernel does: the arithmetic of training/layers.h, training/conv_layer.h
// and training/quadratic.h, one entry at a time, so that no two threads write the same one.
//
// Plain C++: nvcc makes kernels of it (runtime/nccl/device_kernels.h), a host compiler loops, which
// is how the tests check it without a GPU. `constexpr` is what lets both call it (nvcc's
// --expt-relaxed-constexpr). Matrices are column-major, one sample a column; images as ImageShape.
#pragma once

#include <cmath>
#include <cstdint>

namespace cohort {

// Entries of the inputs of a batch, from the bytes of the data set.
struct GatherBody {
  const std::uint8_t* pixels;
  const std::uint8_t* labels;
  const std::uint32_t* samples;  // of the batch
  long features;
  float scale;
  float shift;
  float* inputs;
  std::uint8_t* batch_labels;

  constexpr void operator()(long i) const {
    const long sample = i / features;
    const long feature = i % features;
    inputs[i] = scale * static_cast<float>(pixels[samples[sample] * features + feature]) + shift;
    if (feature == 0) batch_labels[sample] = labels[samples[sample]];
  }
};

// Entries of a dense layer's output. NaN stays NaN.
struct BiasBody {
  const float* bias;
  long outputs;
  bool relu;
  float* y;

  constexpr void operator()(long i) const {
    const float sum = y[i] + bias[i % outputs];
    y[i] = relu && sum < 0 ? 0.0F : sum;
  }
};

// Entries of a gradient, zero where the output of the ReLU was.
struct ReluBackwardBody {
  const float* y;
  float* dy;

  constexpr void operator()(long i) const { dy[i] = y[i] == 0 ? 0.0F : dy[i]; }
};

// Samples: the loss, and in the logits' place the gradient of the batch's mean loss.
template <typename T>
struct SoftmaxLossBody {
  const std::uint8_t* labels;
  long classes;
  long batch;
  T* logits;
  T* losses;

  constexpr void operator()(long sample) const {
    T* column = logits + sample * classes;
    T largest = column[0];
    for (long c = 1; c < classes; ++c) largest = column[c] > largest ? column[c] : largest;
    const long label = labels[sample];
    const T of_label = column[label] - largest;
    T sum = 0;
    for (long c = 0; c < classes; ++c) {
      column[c] = std::exp(column[c] - largest);
      sum += column[c];
    }
    losses[sample] = std::log(sum) - of_label;
    const T scale = 1 / (sum * static_cast<T>(batch));
    for (long c = 0; c < classes; ++c) column[c] *= scale;
    column[label] -= 1 / static_cast<T>(batch);
  }
};

// A convolution with zero padding, and 2 x 2 max pooling after it.
struct ConvShape {
  long batch;
  long inputs;  // channels
  long height;
  long width;
  long kernel;
  long outputs;  // channels

  [[nodiscard]] constexpr long pixels() const { return height * width; }
  [[nodiscard]] constexpr long rows() const { return batch * pixels(); }
  [[nodiscard]] constexpr long column() const { return inputs * kernel * kernel; }
  [[nodiscard]] constexpr long pooled() const { return (height / 2) * (width / 2); }
};

// Entries of im2col: rows() x column(), the samples below each other.
struct SpreadBody {
  ConvShape shape;
  const float* images;
  float* columns;

  constexpr void operator()(long i) const {
    const long row = i % shape.rows();
    const long place = i / shape.rows();
    const long pixel = row % shape.pixels();
    const long x = pixel % shape.width + place % shape.kernel - shape.kernel / 2;
    const long y = pixel / shape.width + place / shape.kernel % shape.kernel - shape.kernel / 2;
    const long plane = row / shape.pixels() * shape.inputs + place / (shape.kernel * shape.kernel);
    const bool inside = x >= 0 && x < shape.width && y >= 0 && y < shape.height;
    columns[i] = inside ? images[plane * shape.pixels() + y * shape.width + x] : 0.0F;
  }
};

// Entries of the images' gradient, from that of im2col: the transpose of SpreadBody.
struct CollectBody {
  ConvShape shape;
  const float* columns;
  float* images;

  constexpr void operator()(long i) const {
    const long pixel = i % shape.pixels();
    const long plane = i / shape.pixels();
    const long sample = plane / shape.inputs;
    const long channel = plane % shape.inputs;
    float sum = 0;
    for (long ky = 0; ky < shape.kernel; ++ky)
      for (long kx = 0; kx < shape.kernel; ++kx) {
        const long x = pixel % shape.width - kx + shape.kernel / 2;
        const long y = pixel / shape.width - ky + shape.kernel / 2;
        if (x < 0 || x >= shape.width || y < 0 || y >= shape.height) continue;
        const long place = (channel * shape.kernel + ky) * shape.kernel + kx;
        sum += columns[place * shape.rows() + sample * shape.pixels() + y * shape.width + x];
      }
    images[i] = sum;
  }
};

// Entries of a layer's output: the largest of each window, plus bias, through ReLU. Planes: rows()
// x outputs.
struct PoolBody {
  ConvShape shape;
  const float* planes;
  const float* bias;
  float* y;
  std::uint8_t* winners;

  constexpr void operator()(long i) const {
    const long across = shape.width / 2;
    const long place = i % shape.pooled();
    const long channel = i / shape.pooled() % shape.outputs;
    const long sample = i / shape.pooled() / shape.outputs;
    const float* window = planes + channel * shape.rows() + sample * shape.pixels() +
                          place / across * 2 * shape.width + place % across * 2;
    float largest = window[0];
    std::uint8_t winner = 0;
    for (std::uint8_t k = 1; k < 4; ++k) {
      const float value = window[(k >> 1) * shape.width + (k & 1)];
      if (value > largest) {
        largest = value;
        winner = k;
      }
    }
    const float sum = largest + bias[channel];
    y[i] = sum < 0 ? 0.0F : sum;
    winners[i] = winner;
  }
};

// Entries of the planes' gradient, from that of the output: back through ReLU and pooling.
struct UnpoolBody {
  ConvShape shape;
  const float* y;
  const float* dy;
  const std::uint8_t* winners;
  float* planes;

  constexpr void operator()(long i) const {
    const long row = i % shape.rows();
    const long channel = i / shape.rows();
    const long pixel = row % shape.pixels();
    const long across = pixel % shape.width;
    const long down = pixel / shape.width;
    planes[i] = 0;
    if (across / 2 >= shape.width / 2 || down / 2 >= shape.height / 2) return;
    const long plane = row / shape.pixels() * shape.outputs + channel;
    const long from = plane * shape.pooled() + down / 2 * (shape.width / 2) + across / 2;
    if (winners[from] == (down & 1) * 2 + (across & 1) && y[from] != 0) planes[i] = dy[from];
  }
};

// Coordinates of `quadratic`: the gradient, and their parts of the loss.
struct QuadraticBody {
  const float* parameters;
  const float* curvature;
  const float* optimum;
  const float* noise;
  float* gradient;
  float* losses;

  constexpr void operator()(long i) const {
    const float away = parameters[i] - optimum[i];
    losses[i] = away * (curvature[i] * away / 2 + noise[i]);
    gradient[i] = curvature[i] * away + noise[i];
  }
};

}  // namespace cohort
