// manifest.json: what was run, on what, how long: all that is not in results.*, or may differ
// between equal runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "experiments/experiment.h"

namespace cohort {

struct RunFacts {
  std::string command;  // sweep, simulate
  std::size_t rows = 0;
  std::size_t computed = 0;
  std::size_t failed = 0;
  unsigned jobs = 1;
  std::chrono::duration<double> wall{};
};

[[nodiscard]] std::string manifest_text(const Experiment& experiment, const RunFacts& facts);

}  // namespace cohort
