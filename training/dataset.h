// Labelled images for training and testing, as bytes, and the readers of the files they come in.
//
// Immutable once loaded and shared by all workers of all runs. A model sees (byte - mean) /
// deviation, both taken over all bytes of the training images.
//
// IDX [LeCun, MNIST]: big-endian words; images: 0x00000803, count, rows, columns, then the bytes;
// labels: 0x00000801, count, then the bytes. CIFAR-10, binary version: records of 1 + 3072 bytes:
// label, then red, green and blue planes of 32 x 32. Any of the files may be compressed by gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "training/model.h"
#include "training/training_spec.h"

namespace cohort {

struct Samples {
  std::vector<std::uint8_t> pixels{};  // image by image
  std::vector<std::uint8_t> labels{};
  [[nodiscard]] std::size_t size() const { return labels.size(); }
};

// Default: no data, for models that need none.
struct Dataset {
  ImageShape shape{};
  std::uint32_t classes = 0;
  Samples training{}, test{};
  double mean = 0;
  double deviation = 1;
};

// Throws InputError with file and byte for content that is damaged, cut off, too long, of another
// kind, of other sizes or counts in images and labels or in training and test, or with labels out
// of range: those of a format with ten classes, and in IDX files test labels above all training
// labels. Throws EnvironmentError, saying what to install, when Fashion-MNIST is not there.
[[nodiscard]] Dataset load_dataset(const DataOptions& options);

[[nodiscard]] Dataset read_idx(const IdxFiles& files);
[[nodiscard]] Dataset read_fashion_mnist(const FashionMnist& options);
[[nodiscard]] Dataset read_cifar10(const Cifar10& options);

// Sets mean and deviation; images that are all the same keep deviation 1.
void standardise(Dataset& dataset);

// The samples with these indices into `batch`, which has room for them already or grows.
template <typename T>
void gather(const Dataset& dataset, const Samples& samples, std::span<const std::uint32_t> indices,
            Batch<T>& batch);

}  // namespace cohort
