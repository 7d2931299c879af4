#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "policies/errors.h"
#include "training/dataset.h"
#include "training/packed_file.h"

namespace cohort {
namespace {

constexpr std::uint32_t kMagicOfImages = 0x803;
constexpr std::uint32_t kMagicOfLabels = 0x801;
constexpr std::uint32_t kLargestSide = 4096;

void expect_magic(PackedFile& file, std::uint32_t magic, const std::string& kind) {
  const auto found = file.big_endian("the magic number");
  if (found != magic)
    throw InputError(file.place(4), fmt::format("found the magic number {:#010x}; allowed: "
                                                "{:#010x}, an IDX file of {}",
                                                found, magic, kind));
}

std::uint32_t count_of(PackedFile& file, const std::string& what, std::uint32_t most) {
  const auto found = file.big_endian(what);
  if (found == 0 || found > most)
    throw InputError(file.place(4),
                     fmt::format("found {} as {}; allowed: 1 to {}", found, what, most));
  return found;
}

ImageShape read_images(const std::filesystem::path& path, std::vector<std::uint8_t>& pixels) {
  PackedFile file(path);
  expect_magic(file, kMagicOfImages, "images");
  const auto count = count_of(file, "the number of images", kMostSamples);
  ImageShape shape;
  shape.height = count_of(file, "the number of rows", kLargestSide);
  shape.width = count_of(file, "the number of columns", kLargestSide);
  pixels = file.bytes(count * shape.features(), "the images");
  file.expect_end();
  return shape;
}

// `classes`: labels from there on are refused.
void read_labels(const std::filesystem::path& path, std::uint32_t classes,
                 std::vector<std::uint8_t>& labels) {
  PackedFile file(path);
  expect_magic(file, kMagicOfLabels, "labels");
  const auto count = count_of(file, "the number of labels", kMostSamples);
  labels = file.bytes(count, "the labels");
  file.expect_end();
  const auto wrong = std::ranges::find_if(labels, [&](auto label) { return label >= classes; });
  if (wrong != labels.end())
    throw InputError(file.place(static_cast<std::size_t>(labels.end() - wrong)),
                     fmt::format("found label {}; allowed: 0 to {}", *wrong, classes - 1));
}

ImageShape read_set(const std::filesystem::path& images, const std::filesystem::path& labels,
                    std::uint32_t classes, Samples& samples) {
  const auto shape = read_images(images, samples.pixels);
  read_labels(labels, classes, samples.labels);
  const auto count = samples.pixels.size() / shape.features();
  if (count != samples.size())
    throw InputError(labels.string(),
                     fmt::format("found {} labels for the {} images of {}; allowed: one each",
                                 samples.size(), count, images.string()));
  return shape;
}

// Without `classes`: as many as the training labels name.
Dataset read(const IdxFiles& files, std::optional<std::uint32_t> classes) {
  Dataset dataset;
  dataset.shape = read_set(files.training_images, files.training_labels, classes.value_or(256),
                           dataset.training);
  dataset.classes =
      classes ? *classes : std::max(2U, *std::ranges::max_element(dataset.training.labels) + 1U);
  const auto shape = read_set(files.test_images, files.test_labels, dataset.classes, dataset.test);
  if (shape != dataset.shape)
    throw InputError(
        files.test_images.string(),
        fmt::format("found images of {} x {}; allowed: {} x {}, as those for training",
                    shape.height, shape.width, dataset.shape.height, dataset.shape.width));
  standardise(dataset);
  return dataset;
}

}  // namespace

Dataset read_idx(const IdxFiles& files) { return read(files, std::nullopt); }

Dataset read_fashion_mnist(const FashionMnist& options) {
  const auto& folder = options.folder;
  if (!std::filesystem::is_directory(folder))
    throw EnvironmentError(
        fmt::format("Fashion-MNIST is not in {}. Install it (Debian and Ubuntu: apt-get install "
                    "dataset-fashion-mnist), name its four files as {{\"idx\": ...}}, or train on "
                    "\"synthetic\"",
                    folder.string()));
  return read({.training_images = folder / "train-images-idx3-ubyte.gz",
               .training_labels = folder / "train-labels-idx1-ubyte.gz",
               .test_images = folder / "t10k-images-idx3-ubyte.gz",
               .test_labels = folder / "t10k-labels-idx1-ubyte.gz"},
              10);
}

}  // namespace cohort
