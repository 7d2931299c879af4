// Reader of the traces that PyTorch's profiler writes (Kineto, JSON), one file per rank, as far as
// the steps go:
//
//   {"distributedInfo": {"rank": 1, ...}, "traceEvents": [
//     {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1009", "ts": ..., "dur":
//     100298}]}
//
// A step is a complete event (ph X) of the host; times are in us, with a fraction in newer
// versions. The same step once more on the tracks of a GPU (a cat that begins with gpu_) is passed
// over. The time is that of the whole step: communication and waiting for others are in it, and
// what the profiler costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/synchronisation.h"
#include "traces/text_file.h"

namespace cohort {

struct ProfilerStep {
  std::uint64_t number = 0;
  Time time{};  // rounded up to ns
};

struct ProfilerTrace {
  std::string file;
  std::optional<std::uint64_t> rank;  // empty: a job of one process, or an old version
  std::vector<ProfilerStep> steps;    // not empty, ascending, each once
};

// Whether a text is a JSON object with the marks of such a trace, whole or not.
[[nodiscard]] bool is_profiler_trace(std::string_view text);

// Throws InputError, with the line or the JSON pointer: no JSON, cut off, no steps, a step twice,
// times that are no numbers from 0. The text is never turned into a tree: a trace of 1 GiB takes
// little more than that.
[[nodiscard]] ProfilerTrace read_profiler_trace(const TextFile& file);

}  // namespace cohort
