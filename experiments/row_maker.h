// Computes rows of an experiment one after the other; belongs to one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "experiments/experiment.h"
#include "experiments/row_run.h"
#include "experiments/tuning.h"

namespace cohort {

class RowMaker {
 public:
  // `tunings` are shared by the makers of all threads. `stop` may be null.
  RowMaker(const Experiment& experiment, Tunings& tunings, const std::atomic<bool>* stop)
      : experiment_(experiment), tunings_(tunings), stop_(stop) {}

  // Throws Interrupted. Rows of one cell that follow one another resolve it once.
  [[nodiscard]] FinishedRow make(std::uint32_t cell, std::uint32_t policy, std::uint64_t seed);

 private:
  const Experiment& experiment_;
  Tunings& tunings_;
  const std::atomic<bool>* stop_;
  std::uint32_t number_ = 0;
  std::optional<Cell> cell_;
};

}  // namespace cohort
