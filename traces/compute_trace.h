// Recorded compute times: a dense table of seconds by worker and step.
//
// File format: CSV with the header `worker,step,seconds`, workers and steps dense from 0, rows in
// any order; a run's own traces carry further columns (`stretched_seconds`, ...), which a reader
// ignores. Recordings with gaps or by other numbers are renumbered by traces/recording.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

class ComputeTrace {
 public:
  // `times` row by row: worker 0's steps, then worker 1's, ...; size workers * steps > 0, none
  // negative (else ContractError).
  ComputeTrace(std::uint32_t workers, std::uint64_t steps, std::vector<Time> times);

  [[nodiscard]] std::uint32_t workers() const { return workers_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] Time at(std::uint32_t worker, std::uint64_t step) const {
    return times_[worker * steps_ + step];
  }
  // Over all entries; of an even number the mean of the middle two.
  [[nodiscard]] Time median() const { return median_; }

 private:
  std::uint32_t workers_;
  std::uint64_t steps_;
  std::vector<Time> times_;
  Time median_;
};

// One row of a recording, with the line it stood on.
struct TraceEntry {
  std::uint64_t worker = 0;
  std::uint64_t step = 0;
  Time time{};
  std::size_t line = 0;
};

// Throws InputError with file and line: missing file, wrong header, gap, duplicate, negative,
// non-numeric, too large.
[[nodiscard]] ComputeTrace read_compute_trace(const std::filesystem::path& file);

// The table of `entries` in any order. Throws InputError naming a line of `file` when they are not
// dense from 0: gaps, duplicates, workers with different numbers of steps.
[[nodiscard]] ComputeTrace dense_trace(std::vector<TraceEntry> entries, const std::string& file);

// The text of a trace file: read_compute_trace() of it gives the same trace.
[[nodiscard]] std::string to_csv(const ComputeTrace& trace);

// The median of `times`, which is not empty.
[[nodiscard]] Time median_of(std::vector<Time> times);

}  // namespace cohort
