// Reads `stragglers` of a spec into models of traces/stragglers.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/spec_files.h"
#include "experiments/spec_node.h"
#include "traces/stragglers.h"

namespace cohort {

struct StragglersOfSpec {
  std::vector<StragglerSpec> compute;
  std::vector<LinkStraggler> links;
  std::vector<std::uint64_t> trace_fingerprints;
  std::optional<Time>
      recorded_median;  // of a trace that replays seconds: it stands in for workload.compute
};

struct StragglerLimits {
  std::uint32_t workers = 0;
  std::uint32_t nodes = 0;
  bool has_nics = true;
  std::optional<std::uint64_t>
      steps_per_worker;  // none: the length of the run in steps is not known
};

// Throws InputError with the JSON pointer of what is wrong.
[[nodiscard]] StragglersOfSpec read_stragglers(const SpecNode& list, const StragglerLimits& limits,
                                               SpecFiles& files);

}  // namespace cohort
