// Which samples a worker trains on, and in what order.
#include "training/shards.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "policies/errors.h"

namespace cohort {
namespace {

constexpr std::uint32_t kLabels = 10;

std::vector<std::uint8_t> balanced_labels(std::size_t count) {
  std::vector<std::uint8_t> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(static_cast<std::uint8_t>(i % kLabels));
  return labels;
}

std::vector<std::uint32_t> sorted_union(const Shards& shards) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t w = 0; w < shards.setting().workers; ++w)
    all.insert(all.end(), shards.of(WorkerId{w}).begin(), shards.of(WorkerId{w}).end());
  std::ranges::sort(all);
  return all;
}

std::vector<std::uint32_t> counting_up(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

// The largest class's share of a shard, in the mean over the workers.
double skew(const ShardOptions& options) {
  const auto labels = balanced_labels(8000);
  const Shards shards(options, labels, {.workers = 8});
  double sum = 0;
  for (std::uint32_t w = 0; w < 8; ++w) {
    std::array<double, kLabels> counts{};
    for (const auto sample : shards.of(WorkerId{w})) ++counts[labels[sample]];
    sum += *std::ranges::max_element(counts) / static_cast<double>(shards.of(WorkerId{w}).size());
  }
  return sum / 8;
}

std::vector<std::uint32_t> batch_of(const Shards& shards, std::uint32_t worker,
                                    std::uint64_t step) {
  DataOrder order(shards, WorkerId{worker});
  const auto batch = order.batch(step);
  return {batch.begin(), batch.end()};
}

TEST_CASE("shards: equal parts are disjoint, cover the set and differ by one sample at most") {
  const Shards shards(IidShards{}, balanced_labels(103), {.workers = 8});
  CHECK(sorted_union(shards) == counting_up(103));
  for (std::uint32_t w = 0; w < 8; ++w) {
    CHECK(shards.of(WorkerId{w}).size() >= 12);
    CHECK(shards.of(WorkerId{w}).size() <= 13);
  }
}

TEST_CASE("shards: skewed parts are disjoint, cover the set and hold a batch each") {
  for (const double alpha : {1e-3, 0.1, 1.0, 1e3}) {
    const Shards shards(DirichletShards{alpha}, balanced_labels(2000), {.workers = 16});
    CHECK(sorted_union(shards) == counting_up(2000));
    for (std::uint32_t w = 0; w < 16; ++w) CHECK(shards.of(WorkerId{w}).size() >= 32);
  }
}

TEST_CASE("shards: a small alpha gives each worker few classes, a large one nearly equal shares") {
  CHECK(skew(DirichletShards{0.05}) > 0.5);
  CHECK(skew(DirichletShards{1000}) < 0.15);
  CHECK(skew(IidShards{}) < 0.15);
}

TEST_CASE("shards: with a shared sampler every worker sees every sample in one epoch") {
  const Shards shards(SharedSampler{}, balanced_labels(64), {.workers = 4});
  for (std::uint32_t w = 0; w < 4; ++w) {
    auto seen = batch_of(shards, w, 0);
    std::ranges::copy(batch_of(shards, w, 1), std::back_inserter(seen));
    std::ranges::sort(seen);
    CHECK(seen == counting_up(64));
  }
  CHECK(batch_of(shards, 0, 0) != batch_of(shards, 1, 0));
}

TEST_CASE("shards: fewer samples than workers are refused, unless they are shared") {
  CHECK_THROWS_AS(Shards(IidShards{}, balanced_labels(3), {.workers = 4}), InputError);
  CHECK_NOTHROW(Shards(SharedSampler{}, balanced_labels(3), {.workers = 4}));
  CHECK_THROWS_AS(Shards(SharedSampler{}, {}, {.workers = 4}), InputError);
}

TEST_CASE("data order: an epoch visits each sample of the shard once, the next in another order") {
  const Shards shards(IidShards{}, balanced_labels(128), {.workers = 2, .batch = 64});
  const auto first = batch_of(shards, 1, 0), second = batch_of(shards, 1, 1);
  const auto as_set = [](const auto& v) { return std::set<std::uint32_t>(v.begin(), v.end()); };
  const auto shard = shards.of(WorkerId{1});
  CHECK(as_set(first) == std::set<std::uint32_t>(shard.begin(), shard.end()));
  CHECK(as_set(second) == as_set(first));
  CHECK(second != first);
}

TEST_CASE("data order: a batch across the end of an epoch takes the rest from the next") {
  const Shards shards(IidShards{}, balanced_labels(5), {.workers = 1, .batch = 3});
  DataOrder order(shards, WorkerId{0});
  std::vector<int> seen(5);
  for (std::uint64_t step = 0; step < 5; ++step)  // three epochs
    for (const auto sample : order.batch(step)) ++seen[sample];
  CHECK(seen == std::vector<int>(5, 3));
}

TEST_CASE("data order: a batch is a function of seed, worker and step, whoever asks when") {
  const auto labels = balanced_labels(500);
  const Shards shards(IidShards{}, labels, {.workers = 4, .batch = 30, .seed = 7});
  DataOrder forward(shards, WorkerId{2}), backward(shards, WorkerId{2});
  std::vector<std::vector<std::uint32_t>> batches;
  for (std::uint64_t step = 0; step < 20; ++step)
    batches.emplace_back(forward.batch(step).begin(), forward.batch(step).end());
  for (std::uint64_t step = 20; step-- > 0;)
    CHECK(std::ranges::equal(backward.batch(step), batches[step]));
  const Shards again(IidShards{}, labels, {.workers = 4, .batch = 30, .seed = 7});
  CHECK(batch_of(again, 2, 11) == batches[11]);
  const Shards other(IidShards{}, labels, {.workers = 4, .batch = 30, .seed = 8});
  CHECK(batch_of(other, 2, 11) != batches[11]);
}

}  // namespace
}  // namespace cohort
