// What is trained, on what data and how: the values of `workload.training` of a spec, as plain
// structs. Made by whoever reads specs; nothing here reads a file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <variant>
#include <vector>

namespace cohort {

// Of one set: the stream that an order of them is drawn from has 2^24 numbers.
inline constexpr std::uint32_t kMostSamples = 10'000'000;

// f(x) = (x - x*)' A (x - x*) / 2, see training/quadratic.h. Needs no data.
struct QuadraticOptions {
  std::uint32_t dimensions = 64;
  double condition_number = 10;
  double noise_variance = 1;  // of each coordinate of one sample's gradient
};
struct SoftmaxOptions {};
struct MlpOptions {
  std::vector<std::uint32_t> hidden{256};
};
// Twice (convolution with zero padding, 2 x 2 max pooling, ReLU), then one dense layer.
struct CnnOptions {
  std::array<std::uint32_t, 2> channels{8, 16};
  std::uint32_t kernel = 5;  // odd
};
using ModelOptions = std::variant<QuadraticOptions, SoftmaxOptions, MlpOptions, CnnOptions>;

// The four files of the distribution's package dataset-fashion-mnist.
struct FashionMnist {
  std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
};
// data_batch_1.bin to data_batch_5.bin and test_batch.bin.
struct Cifar10 {
  std::filesystem::path folder;
};
// Each plain or compressed by gzip.
struct IdxFiles {
  std::filesystem::path training_images, training_labels, test_images, test_labels;
};
// See training/synthetic.h.
struct SyntheticOptions {
  std::uint32_t side = 8;  // images of side x side, one channel
  std::uint32_t classes = 10;
  std::uint32_t training_samples = 8192;
  std::uint32_t test_samples = 2048;
  std::uint32_t teacher_hidden = 0;  // units of the teacher's hidden layer; 0: it is linear
  double label_noise = 0;            // share of labels that are replaced by another class
  std::uint64_t seed = 1;            // the set is the same for all seeds of a run
};
using DataOptions = std::variant<SyntheticOptions, FashionMnist, Cifar10, IdxFiles>;

struct IidShards {};
struct DirichletShards {
  double alpha = 1;
};
struct SharedSampler {};
// See training/shards.h.
using ShardOptions = std::variant<IidShards, DirichletShards, SharedSampler>;

// Counts the samples that all workers together have used, so that policies that step unequally
// often are compared fairly.
struct Schedule {
  std::uint64_t warm_up_samples = 0;
  std::vector<std::uint64_t> milestones{};  // in samples; ascending
  double decay = 0.1;                       // per milestone passed
};

struct SgdOptions {
  double learning_rate = 0.1;
  double momentum = 0;
  double weight_decay = 0;
  Schedule schedule{};
};

struct TrainingSpec {
  ModelOptions model = MlpOptions{};
  DataOptions data = SyntheticOptions{};
  std::uint32_t batch = 32;  // per worker
  SgdOptions sgd{};
  ShardOptions shards = IidShards{};
};

// Throws InputError, its place a JSON pointer below workload.training, on a value out of range:
// counts of 0 or beyond reason, a condition number below 1, a negative variance or decay of
// weights, a rate, decay or alpha that is not positive, a momentum outside [0, 1), an even kernel,
// milestones that do not ascend, a synthetic set larger than the machine's memory. Files are
// checked when they are read.
void check_training(const TrainingSpec& spec);

}  // namespace cohort
