#include "training/dataset.h"

#include <cmath>

#include "training/synthetic.h"
#include "training/wide_loops.h"

namespace cohort {
namespace {

struct Load {
  Dataset operator()(const SyntheticOptions& options) const { return make_synthetic(options); }
  Dataset operator()(const FashionMnist& options) const { return read_fashion_mnist(options); }
  Dataset operator()(const Cifar10& options) const { return read_cifar10(options); }
  Dataset operator()(const IdxFiles& files) const { return read_idx(files); }
};

template <typename T>
[[gnu::always_inline]] inline void scale_pixels(const std::uint8_t* pixels, std::size_t count,
                                                T scale, T shift, T* to) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) to[i] = scale * static_cast<T>(pixels[i]) + shift;
}

COHORT_WIDE_LOOP void scaled(const std::uint8_t* pixels, std::size_t count, float scale,
                             float shift, float* to) {
  scale_pixels(pixels, count, scale, shift, to);
}
COHORT_WIDE_LOOP void scaled(const std::uint8_t* pixels, std::size_t count, double scale,
                             double shift, double* to) {
  scale_pixels(pixels, count, scale, shift, to);
}

}  // namespace

Dataset load_dataset(const DataOptions& options) { return std::visit(Load{}, options); }

void standardise(Dataset& dataset) {
  std::uint64_t sum = 0, squares = 0;
  for (const std::uint64_t pixel : dataset.training.pixels) {
    sum += pixel;
    squares += pixel * pixel;
  }
  const auto count = static_cast<double>(dataset.training.pixels.size());
  dataset.mean = static_cast<double>(sum) / count;
  const double variance = static_cast<double>(squares) / count - dataset.mean * dataset.mean;
  dataset.deviation = variance > 0 ? std::sqrt(variance) : 1;
}

template <typename T>
void gather(const Dataset& dataset, const Samples& samples, std::span<const std::uint32_t> indices,
            Batch<T>& batch) {
  const auto features = dataset.shape.features();
  batch.size = indices.size();
  if (batch.inputs.size() < batch.size * features) batch.inputs.resize(batch.size * features);
  if (batch.labels.size() < batch.size) batch.labels.resize(batch.size);
  const auto scale = static_cast<T>(1 / dataset.deviation);
  const auto shift = static_cast<T>(-dataset.mean / dataset.deviation);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto* pixels = samples.pixels.data() + indices[i] * features;
    auto* inputs = batch.inputs.data() + i * features;
    scaled(pixels, features, scale, shift, inputs);
    batch.labels[i] = samples.labels[indices[i]];
  }
}

template void gather(const Dataset&, const Samples&, std::span<const std::uint32_t>, Batch<float>&);
template void gather(const Dataset&, const Samples&, std::span<const std::uint32_t>,
                     Batch<double>&);

}  // namespace cohort
