// Recordings of other tools brought into the form of a compute trace, and what they show.
//
// Three forms are read, told apart by what stands in them:
//   step,dp_rank,pp_rank,...,compute_s,...   the published straggler study: data-parallel replica
//                                            and pipeline stage; worker = dp_rank * stages +
//                                            pp_rank
//   worker,step,seconds,...                  as a compute trace, but with gaps in the numbers
//   {"traceEvents": ...}                     PyTorch's profiler, a file per rank
//                                            (traces/profiler_trace.h)
// Steps, replicas, stages, ranks and workers are renumbered densely in their order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "traces/compute_trace.h"

namespace cohort {

struct Recording {
  ComputeTrace trace;
  std::uint32_t stages = 1;        // of the pipeline; 1: no stages recorded
  std::vector<std::string> notes;  // what was renumbered or left out, for the user
};

// Whether a text begins with the header of one of the tables.
[[nodiscard]] bool is_recording(std::string_view text);

// Throws InputError with file and line, as read_compute_trace() does; gaps in the numbers are no
// error, a worker without some step of the others is one. `files`: one table, or profiler traces;
// not empty (else ContractError).
[[nodiscard]] Recording read_recording(const std::vector<std::filesystem::path>& files);
[[nodiscard]] Recording read_recording(const std::filesystem::path& file);

struct WorkerSummary {
  Time median{};
  double ratio = 1;   // of its median to the median of all workers' medians
  double spread = 0;  // standard deviation of its steps over their mean; 0 with one step
};
[[nodiscard]] std::vector<WorkerSummary> summarise(const ComputeTrace& trace);

// A worker whose ratio is above this counts as slow throughout the recording.
inline constexpr double kSlowRatio = 1.1;

// The pipeline stages, ascending, that make up exactly the slow workers: every replica of them is
// slow and nobody else is. Empty when there are none, fewer than two replicas or stages, or all are
// slow. Such a slowness is the stage's own: regrouping data-parallel replicas cannot help.
[[nodiscard]] std::vector<std::uint32_t> slow_stages(const std::vector<WorkerSummary>& workers,
                                                     std::uint32_t stages);

}  // namespace cohort
