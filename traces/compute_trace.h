// Recorded compute times: a dense table of seconds by worker and step.
//
// File format: CSV with the header `worker,step,seconds`, workers and steps dense from 0, rows in any order; a run's own traces
// carry further columns (`stretched_seconds`, ...), which a reader ignores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

class ComputeTrace {
 public:
  // `times` row by row: worker 0's steps, then worker 1's, ...; size workers * steps.
  ComputeTrace(std::uint32_t workers, std::uint64_t steps, std::vector<Time> times);

  [[nodiscard]] std::uint32_t workers() const { return workers_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] Time at(std::uint32_t worker, std::uint64_t step) const { return times_[worker * steps_ + step]; }
  [[nodiscard]] Time median() const { return median_; }  // over all entries

 private:
  std::uint32_t workers_;
  std::uint64_t steps_;
  std::vector<Time> times_;
  Time median_;
};

// Throws InputError with file and line: missing file, wrong header, gap, duplicate, negative, non-numeric, too large.
[[nodiscard]] ComputeTrace read_compute_trace(const std::filesystem::path& file);

}  // namespace cohort
