// Reads `workload` of a spec (the table of keys stands in docs, the meaning of each in
// sim/cluster.h), but for `workload.training` (experiments/read_training.h).
#pragma once

#include <optional>

#include "experiments/spec_node.h"
#include "sim/cluster.h"

namespace cohort {

// What the rest of the spec gives.
struct WorkloadDefaults {
  std::optional<Time> compute{};    // a recorded trace's
  std::optional<double> payload{};  // bytes of the trained parameters
};

// Payload: as given, else the named model's, else the trained parameters'. Compute: as given, else
// the trace's, else the named model's on the named GPU. Throws InputError with the JSON pointer of
// what is wrong.
[[nodiscard]] WorkloadSpec read_workload(const SpecNode& node, const WorkloadDefaults& defaults);

}  // namespace cohort
