// IDX and CIFAR-10 files for one test, plain or compressed.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

#include "tests/traces/files.h"
#include "training/training_spec.h"

namespace cohort::test {

inline std::string word(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 255U);
  return bytes;
}

// `count` images whose bytes count up from 0.
inline std::string idx_images(std::uint32_t count, std::uint32_t height = 3,
                              std::uint32_t width = 2) {
  std::string bytes = word(0x803) + word(count) + word(height) + word(width);
  for (std::uint32_t i = 0; i < count * height * width; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// Labels 0, 1, ..., classes - 1, 0, ...
inline std::string idx_labels(std::uint32_t count, std::uint32_t classes = 3) {
  std::string bytes = word(0x801) + word(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i % classes);
  return bytes;
}

inline std::string cifar_records(std::uint32_t count) {
  std::string bytes;
  for (std::uint32_t i = 0; i < count; ++i)
    bytes += static_cast<char>(i % 10) + std::string(3072, static_cast<char>(i));
  return bytes;
}

inline std::string gzipped(const std::string& plain) {
  const WrittenFile file("");
  gzFile packed = gzopen(file.path().c_str(), "wb");
  gzwrite(packed, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(packed);
  std::ifstream written(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(written), {}};
}

// Four files that live as long as this object.
struct WrittenIdx {
  std::string training_images = idx_images(7), training_labels = idx_labels(7);
  std::string test_images = idx_images(4), test_labels = idx_labels(4);

  template <typename Use>
  auto with(Use use) const {
    const WrittenFile a(training_images), b(training_labels), c(test_images), d(test_labels);
    return use(IdxFiles{a.path(), b.path(), c.path(), d.path()});
  }
};

}  // namespace cohort::test
