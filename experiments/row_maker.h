// Computes rows of an experiment one after the other; belongs to one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "experiments/experiment.h"
#include "experiments/row_run.h"

namespace cohort {

class RowMaker {
 public:
  // `stop` may be null.
  RowMaker(const Experiment& experiment, const std::atomic<bool>* stop)
      : experiment_(experiment), stop_(stop) {}

  // Throws Interrupted. Rows of one cell that follow one another resolve it once.
  [[nodiscard]] FinishedRow make(std::uint32_t cell, std::uint32_t policy, std::uint64_t seed);

 private:
  const Experiment& experiment_;
  const std::atomic<bool>* stop_;
  std::uint32_t number_ = 0;
  std::optional<Cell> cell_;
};

}  // namespace cohort
