// manifest.json: what was run, on what, how long: all that is not in results.*, or may differ
// between equal runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "experiments/experiment.h"
#include "experiments/row_text.h"

namespace cohort {

struct RunFacts {
  std::string command;  // sweep, simulate
  std::size_t rows = 0;
  std::size_t computed = 0;
  std::size_t failed = 0;
  unsigned jobs = 1;
  std::chrono::duration<double> wall{};
  OrderedJson run{};  // of a real run: ranks, hosts, processor time, recordings; null: a simulation
};

[[nodiscard]] std::string manifest_text(const Experiment& experiment, const RunFacts& facts);

}  // namespace cohort
