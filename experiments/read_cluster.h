// Reads `cluster` of a spec (the table of keys stands in docs, the meaning of each
// in sim/cluster.h).
#pragma once

#include "experiments/spec_files.h"
#include "experiments/spec_node.h"
#include "sim/cluster.h"

namespace cohort {

inline constexpr std::uint32_t kMostWorkers = 1U << 20;

// Throws InputError with the JSON pointer of what is wrong. `files` reads a measured curve that
// stands in a file.
[[nodiscard]] ClusterSpec read_cluster(const SpecNode& node, SpecFiles& files);

}  // namespace cohort
