#include <fmt/format.h>

#include "policies/errors.h"
#include "training/dataset.h"
#include "training/packed_file.h"

namespace cohort {
namespace {

constexpr ImageShape kShape{3, 32, 32};
constexpr std::uint32_t kClasses = 10;
constexpr std::size_t kRecordBytes = 1 + 3 * 32 * 32;
constexpr std::size_t kMostBytes = 100'000 * kRecordBytes;

void add_records(const std::filesystem::path& path, Samples& samples) {
  PackedFile file(path);
  const auto bytes = file.rest(kMostBytes);
  if (bytes.empty() || bytes.size() % kRecordBytes != 0)
    throw InputError(path.string(),
                     fmt::format("found {} bytes; allowed: whole records of {}, at least one",
                                 bytes.size(), kRecordBytes));
  for (std::size_t at = 0; at < bytes.size(); at += kRecordBytes) {
    if (bytes[at] >= kClasses)
      throw InputError(file.place(bytes.size() - at),
                       fmt::format("found label {}; allowed: 0 to {}", bytes[at], kClasses - 1));
    samples.labels.push_back(bytes[at]);
    const auto image = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    samples.pixels.insert(samples.pixels.end(), image + 1, image + kRecordBytes);
  }
}

}  // namespace

Dataset read_cifar10(const Cifar10& options) {
  Dataset dataset{.shape = kShape, .classes = kClasses};
  for (int part = 1; part <= 5; ++part)
    add_records(options.folder / fmt::format("data_batch_{}.bin", part), dataset.training);
  add_records(options.folder / "test_batch.bin", dataset.test);
  standardise(dataset);
  return dataset;
}

}  // namespace cohort
