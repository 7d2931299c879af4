// Readers of labelled images: right values from whole files, a clear error from others.
#include "training/dataset.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "policies/errors.h"
#include "policies/random.h"
#include "tests/damaged.h"
#include "tests/training/image_files.h"
#include "training/synthetic.h"

namespace cohort {
namespace {

Dataset read(const test::WrittenIdx& written) {
  return written.with([](const IdxFiles& files) { return read_idx(files); });
}

// What an InputError says without the name of the file, or what else happened.
std::string complaint(auto action) {
  try {
    action();
  } catch (const InputError& error) {
    const auto& where = error.where();
    const auto comma = where.find(", ");
    return (comma == std::string::npos ? "" : where.substr(comma + 2) + ": ") + error.complaint();
  }
  return "accepted";
}

std::string complaint(const test::WrittenIdx& written) {
  return complaint([&] { (void)read(written); });
}

TEST_CASE("idx: images, labels and classes are those of the files") {
  const auto set = read({});
  CHECK(set.shape == ImageShape{1, 3, 2});
  CHECK(set.classes == 3);
  CHECK(set.training.size() == 7);
  CHECK(set.training.pixels[41] == 41);
  CHECK(set.training.labels == std::vector<std::uint8_t>{0, 1, 2, 0, 1, 2, 0});
  CHECK(set.test.size() == 4);
}

TEST_CASE("idx: compressed files hold the same as plain ones") {
  test::WrittenIdx packed;
  packed.training_images = test::gzipped(packed.training_images);
  packed.test_labels = test::gzipped(packed.test_labels);
  CHECK(read(packed).training.pixels == read({}).training.pixels);
  CHECK(read(packed).test.labels == read({}).test.labels);
}

TEST_CASE("idx: a file of another kind is refused with its magic number") {
  test::WrittenIdx files;
  std::swap(files.training_images, files.training_labels);
  CHECK(complaint(files) ==
        "byte 0: found the magic number 0x00000801; allowed: 0x00000803, an IDX file of images");
}

TEST_CASE("idx: a file that is cut off is refused where it ends") {
  test::WrittenIdx files;
  files.training_images.resize(30);
  CHECK(complaint(files) == "byte 30: the file ends after 14 of the 42 bytes of the images");
  files.training_images.resize(2);
  CHECK(complaint(files) == "byte 2: the file ends after 2 of the 4 bytes of the magic number");
}

TEST_CASE("idx: a header that announces more than any file has is refused without its memory") {
  test::WrittenIdx files;
  files.training_images.replace(4, 4, test::word(9'000'000));
  files.training_images.replace(8, 8, test::word(4096) + test::word(4096));
  CHECK(complaint(files) ==
        "byte 58: the file ends after 42 of the 150994944000000 bytes of the images");
  files.training_images.replace(4, 4, test::word(0xFFFFFFFF));
  CHECK(complaint(files) ==
        "byte 4: found 4294967295 as the number of images; allowed: 1 to 10000000");
}

TEST_CASE("idx: bytes behind the last image are refused") {
  test::WrittenIdx files;
  files.test_images += "x";
  CHECK(complaint(files) ==
        "byte 40: found more bytes than the header announces; allowed: the end");
}

TEST_CASE("idx: labels and images must be equally many") {
  test::WrittenIdx files;
  files.training_labels = test::idx_labels(6);
  CHECK(complaint(files).starts_with("found 6 labels for the 7 images of "));
}

TEST_CASE("idx: a test label that no training sample has is refused") {
  test::WrittenIdx files;
  files.test_labels.back() = 3;
  CHECK(complaint(files) == "byte 11: found label 3; allowed: 0 to 2");
}

TEST_CASE("idx: images for testing must have the size of those for training") {
  test::WrittenIdx files;
  files.test_images = test::idx_images(4, 2, 3);
  CHECK(complaint(files) == "found images of 2 x 3; allowed: 3 x 2, as those for training");
}

TEST_CASE("idx: a compressed file that is cut off is refused even when only its checksum is gone") {
  test::WrittenIdx files;
  const auto packed = test::gzipped(files.training_images);
  files.training_images = packed.substr(0, packed.size() - 3);
  CHECK(complaint(files) == "byte 58: the compressed file is cut off here");
}

TEST_CASE("idx: a compressed file with a wrong checksum is refused") {
  test::WrittenIdx files;
  files.training_images = test::gzipped(files.training_images);
  files.training_images[files.training_images.size() - 6] ^= 1;
  CHECK(complaint(files).find("damaged gzip file (") != std::string::npos);
}

TEST_CASE("idx: a missing file and a directory are refused by name") {
  CHECK_THROWS_WITH_AS((void)read_idx({"/nowhere/images", "b", "c", "d"}),
                       "/nowhere/images: there is no such file", InputError);
  CHECK_THROWS_AS((void)read_idx({"/", "b", "c", "d"}), InputError);
}

TEST_CASE("fashion-mnist: when it is not there, the error says what to install") {
  try {
    (void)load_dataset(FashionMnist{"/nowhere"});
    FAIL("accepted");
  } catch (const EnvironmentError& error) {
    CHECK(std::string(error.what()).find("apt-get install dataset-fashion-mnist") !=
          std::string::npos);
  }
}

class CifarFolder {
 public:
  explicit CifarFolder(const std::string& part) : place_("") {
    std::filesystem::remove(place_.path());
    std::filesystem::create_directory(place_.path());
    for (const char* name : {"1", "2", "3", "4", "5"})
      write(std::string("data_batch_") + name + ".bin", part);
    write("test_batch.bin", test::cifar_records(2));
  }
  ~CifarFolder() {
    for (const auto& file : std::filesystem::directory_iterator(path()))
      std::filesystem::remove(file);
  }
  CifarFolder(const CifarFolder&) = delete;
  CifarFolder& operator=(const CifarFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return place_.path(); }

 private:
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path() / name, std::ios::binary) << bytes;
  }
  test::WrittenFile place_;
};

TEST_CASE("cifar-10: five parts for training, one for testing, three planes an image") {
  const CifarFolder folder(test::cifar_records(3));
  const auto set = load_dataset(Cifar10{folder.path()});
  CHECK(set.shape == ImageShape{3, 32, 32});
  CHECK(set.training.size() == 15);
  CHECK(set.test.size() == 2);
  CHECK(set.training.labels[5] == 2);
  CHECK(set.training.pixels[5 * 3072] == 2);
}

TEST_CASE("cifar-10: a label above 9 is refused with its byte") {
  auto records = test::cifar_records(2);
  records[3073] = 10;
  const CifarFolder folder(records);
  CHECK(complaint([&] { (void)read_cifar10({folder.path()}); }) ==
        "byte 3073: found label 10; allowed: 0 to 9");
}

TEST_CASE("cifar-10: a part of a record is refused") {
  const CifarFolder folder(test::cifar_records(2).substr(0, 4000));
  CHECK(complaint([&] { (void)read_cifar10({folder.path()}); }) ==
        "found 4000 bytes; allowed: whole records of 3073, at least one");
}

TEST_CASE("damaged image files are refused or stay whole sets") {
  const test::WrittenIdx whole;
  const std::string packed = test::gzipped(test::idx_images(7));
  std::uint32_t accepted = 0;
  constexpr std::uint32_t kTries = 1500;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    Stream random(29, Purpose::Failure, i, 0);
    auto files = whole;
    if (i % 3 == 0) files.training_images = test::damaged(packed, random);
    if (i % 3 == 1) files.training_labels = test::damaged(whole.training_labels, random);
    if (i % 3 == 2) files.test_images = test::damaged(whole.test_images, random);
    try {
      const auto set = read(files);
      CHECK(set.training.pixels.size() == set.training.size() * set.shape.features());
      CHECK(set.test.pixels.size() == set.test.size() * set.shape.features());
      CHECK(set.deviation > 0);
      ++accepted;
    } catch (const InputError&) {
    }
  }
  CHECK(accepted > 0);
  CHECK(accepted < kTries);
}

TEST_CASE("training inputs have mean 0 and deviation 1 over the whole set") {
  const auto set = make_synthetic({.training_samples = 200, .test_samples = 1});
  std::vector<std::uint32_t> all(200);
  std::iota(all.begin(), all.end(), 0U);
  Batch<double> batch;
  gather(set, set.training, all, batch);
  double sum = 0, squares = 0;
  for (const double x : batch.inputs) {
    sum += x;
    squares += x * x;
  }
  const auto count = static_cast<double>(batch.inputs.size());
  CHECK(std::abs(sum / count) < 1e-12);
  CHECK(squares / count == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("synthetic: a larger set begins with the smaller one") {
  const auto small = make_synthetic({.training_samples = 50, .test_samples = 10});
  const auto large = make_synthetic({.training_samples = 80, .test_samples = 10});
  CHECK(std::equal(small.training.pixels.begin(), small.training.pixels.end(),
                   large.training.pixels.begin()));
  CHECK(small.test.labels == large.test.labels);
}

TEST_CASE("synthetic: label noise replaces its share of the labels, the images stay") {
  const auto clean = make_synthetic({.training_samples = 4000, .test_samples = 1});
  const auto noisy =
      make_synthetic({.training_samples = 4000, .test_samples = 1, .label_noise = 0.25});
  CHECK(clean.training.pixels == noisy.training.pixels);
  std::size_t replaced = 0;
  for (std::size_t i = 0; i < clean.training.size(); ++i)
    replaced += clean.training.labels[i] != noisy.training.labels[i] ? 1 : 0;
  CHECK(replaced == doctest::Approx(1000).epsilon(0.09));  // three deviations
}

TEST_CASE("synthetic: a teacher with hidden units uses every class") {
  const auto set = make_synthetic({.teacher_hidden = 32});
  std::vector<std::uint32_t> samples(10);
  for (const auto label : set.training.labels) ++samples[label];
  for (const auto count : samples) CHECK(count > 200);
}

}  // namespace
}  // namespace cohort
