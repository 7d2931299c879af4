// Who trains on which samples, and in what order.
//
// Shards are disjoint and cover the set: `iid` cuts a random order of all samples into equal parts
// (sizes differ by at most one); `dirichlet` draws, for each class, the workers' shares from a
// symmetric Dirichlet distribution with parameter alpha ([Hsu 2019]: small = skewed), after which a
// worker with fewer than a batch (or an equal part, where that is less) is filled up from the
// largest shards. With the shared sampler the shard of every worker is the whole set, each in an
// order of its own, so that the data of a slow worker is not lost.
//
// A worker goes through its shard in a new random order each epoch; a batch at the end of an epoch
// is completed from the next. All of it is drawn from the streams (seed, data order): a batch is a
// function of (seed, worker, step) and of the options, whoever asks first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/synchronisation.h"
#include "training/training_spec.h"

namespace cohort {

struct ShardSetting {
  std::uint32_t workers = 1;
  std::uint32_t batch = 32;
  std::uint64_t seed = 1;
};

// Throws InputError ("/shards") when there are fewer samples than workers, or none.
void check_shards(const ShardOptions& options, std::size_t samples, std::uint32_t workers);

// Immutable, shared by all workers.
class Shards {
 public:
  // Throws what check_shards() does.
  Shards(const ShardOptions& options, std::span<const std::uint8_t> labels, ShardSetting setting);

  // Indices of samples.
  [[nodiscard]] std::span<const std::uint32_t> of(WorkerId worker) const;
  [[nodiscard]] const ShardSetting& setting() const { return setting_; }

 private:
  ShardSetting setting_;
  bool whole_;                          // each shard is all samples
  std::vector<std::uint32_t> samples_;  // shard by shard
  std::vector<std::size_t> first_;      // of each worker, and the end
};

// One worker's walk through its shard; keeps the order of one epoch.
class DataOrder {
 public:
  DataOrder(const Shards& shards, WorkerId worker);  // keeps the reference

  // The samples of the batch of this step; any step, in any order, cheapest in ascending order.
  // Valid until the next call.
  [[nodiscard]] std::span<const std::uint32_t> batch(std::uint64_t step);

 private:
  void shuffle_for(std::uint64_t epoch);

  const Shards& shards_;
  WorkerId worker_;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> batch_;
};

}  // namespace cohort
