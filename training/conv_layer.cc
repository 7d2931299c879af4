#include "training/conv_layer.h"

#include <Eigen/Core>
#include <algorithm>

#include "training/layers.h"
#include "training/products.h"

namespace cohort {

template <typename T>
ConvLayer<T>::ConvLayer(ImageShape input, std::uint32_t channels, std::uint32_t kernel)
    : input_(input),
      channels_(channels),
      kernel_(kernel),
      pixels_(long{input.height} * input.width),
      column_(long{input.channels} * kernel_ * kernel_),
      shifted_(static_cast<std::size_t>((input.height + kernel - 1) * input.width)),
      columns_(static_cast<std::size_t>(pixels_ * column_)),
      planes_(static_cast<std::size_t>(pixels_ * channels_)) {}

template <typename T>
ImageShape ConvLayer<T>::output() const {
  return {static_cast<std::uint32_t>(channels_), input_.height / 2, input_.width / 2};
}

template <typename T>
std::size_t ConvLayer<T>::parameters() const {
  return static_cast<std::size_t>(channels_ * (column_ + 1));
}

// shifted[r][x] = image[r - margin][x + offset], zero outside of the image.
template <typename T>
void ConvLayer<T>::shift_in(const T* image, long offset) {
  const long width = input_.width;
  const long first = std::max(0L, -offset);
  const long count = std::max(0L, width - std::abs(offset));
  T* row = shifted_.data() + kernel_ / 2 * width;
  for (long y = 0; y < input_.height; ++y, row += width, image += width) {
    std::fill_n(row, first, T{0});
    std::copy_n(image + first + offset, count, row + first);
    std::fill_n(row + first + count, width - first - count, T{0});
  }
}

// The reverse, added up.
template <typename T>
void ConvLayer<T>::shift_out(T* image, long offset) const {
  const long width = input_.width;
  const long first = std::max(0L, -offset);
  const long count = std::max(0L, width - std::abs(offset));
  const T* row = shifted_.data() + kernel_ / 2 * width;
  for (long y = 0; y < input_.height; ++y, row += width, image += width)
    for (long x = first; x < first + count; ++x) image[x + offset] += row[x];
}

// im2col: the columns of one kernel column are one shifted plane at different heights.
template <typename T>
void ConvLayer<T>::spread(const T* image) {
  for (long c = 0; c < input_.channels; ++c)
    for (long kx = 0; kx < kernel_; ++kx) {
      shift_in(image + c * pixels_, kx - kernel_ / 2);
      for (long ky = 0; ky < kernel_; ++ky)
        std::copy_n(shifted_.data() + ky * input_.width, pixels_,
                    columns_.data() + ((c * kernel_ + ky) * kernel_ + kx) * pixels_);
    }
}

// col2im, the transpose of spread(): overwrites the image.
template <typename T>
void ConvLayer<T>::gather(T* image) {
  using Plane = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
  std::fill_n(image, input_.channels * pixels_, T{0});
  for (long c = 0; c < input_.channels; ++c)
    for (long kx = 0; kx < kernel_; ++kx) {
      std::fill(shifted_.begin(), shifted_.end(), T{0});
      for (long ky = 0; ky < kernel_; ++ky)
        Plane(shifted_.data() + ky * input_.width, pixels_) +=
            Plane(columns_.data() + ((c * kernel_ + ky) * kernel_ + kx) * pixels_, pixels_);
      shift_out(image + c * pixels_, kx - kernel_ / 2);
    }
  std::fill(shifted_.begin(), shifted_.end(), T{0});  // the margins are zero again
}

template <typename T>
void ConvLayer<T>::pool(const T* parameters, T* y, std::uint8_t* winners) const {
  const auto out = output();
  const long width = input_.width;
  const T* bias = parameters + channels_ * column_;
  for (long c = 0; c < channels_; ++c)
    for (long row = 0; row < out.height; ++row) {
      const T* above = planes_.data() + c * pixels_ + 2 * row * width;
      const T* below = above + width;
      for (long x = 0; x < out.width; ++x, ++y, ++winners) {
        T largest = above[2 * x];
        std::uint8_t winner = 0;
        const auto challenge = [&](T value, std::uint8_t place) {
          winner = value > largest ? place : winner;
          largest = value > largest ? value : largest;
        };
        challenge(above[2 * x + 1], 1);
        challenge(below[2 * x], 2);
        challenge(below[2 * x + 1], 3);
        *winners = winner;
        *y = largest + bias[c];
      }
    }
}

template <typename T>
void ConvLayer<T>::unpool(const T* dy, const std::uint8_t* winners) {
  const auto out = output();
  std::fill(planes_.begin(), planes_.end(), T{0});
  for (long c = 0; c < channels_; ++c)
    for (long row = 0; row < out.height; ++row) {
      T* above = planes_.data() + c * pixels_ + 2 * row * input_.width;
      for (long x = 0; x < out.width; ++x, ++dy, ++winners)
        above[2 * x + (*winners & 1) + (*winners >> 1) * input_.width] = *dy;
    }
}

template <typename T>
void ConvLayer<T>::forward(const T* parameters, const T* x, std::size_t batch, T* y) {
  const auto out = output().features();
  x_ = x;
  y_ = y;
  batch_ = batch;
  if (winners_.size() < batch * out) winners_.resize(batch * out);
  for (std::size_t sample = 0; sample < batch; ++sample) {
    spread(x + sample * input_.features());
    products<T>().plain({pixels_, channels_, column_}, columns_.data(), parameters, planes_.data(),
                        Into::Overwrite);
    pool(parameters, y + sample * out, winners_.data() + sample * out);
  }
  relu(y, static_cast<long>(batch * out));
}

template <typename T>
void ConvLayer<T>::backward(const T* parameters, T* dy, T* gradient, T* dx) {
  const auto out = output();
  const long pooled = long{out.height} * out.width;
  relu_backward(y_, dy, static_cast<long>(batch_ * out.features()));
  std::fill_n(gradient, this->parameters(), T{0});
  for (std::size_t sample = 0; sample < batch_; ++sample) {
    const T* dy_sample = dy + sample * out.features();
    for (long c = 0; c < channels_; ++c)
      gradient[channels_ * column_ + c] +=
          Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(dy_sample + c * pooled, pooled)
              .sum();
    unpool(dy_sample, winners_.data() + sample * out.features());
    spread(x_ + sample * input_.features());
    products<T>().left_transposed({column_, channels_, pixels_}, columns_.data(), planes_.data(),
                                  gradient, Into::Add);
    if (dx == nullptr) continue;
    products<T>().right_transposed({pixels_, column_, channels_}, planes_.data(), parameters,
                                   columns_.data(), Into::Overwrite);
    gather(dx + sample * input_.features());
  }
}

template class ConvLayer<float>;
template class ConvLayer<double>;

}  // namespace cohort
