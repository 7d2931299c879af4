// The scenarios that are run in both simulators: 56 Gbit/s NICs, 10 GB/s switched fabric, no
// latency, 60 MB of parameters and recorded compute times of 100 ms with 2 % jitter and a slowdown
// of 5 at a rate of 1/n a step.
#pragma once

#include <cstdint>
#include <string>

#include "sim/scenario.h"

namespace cohort {

struct Shape {
  std::uint32_t nodes, gpus_per_node;
};

[[nodiscard]] ClusterSpec compared_cluster(Shape shape);

// `policy`: a registered name, or "contended": static phases in which several groups, of equal and
// then of unequal size, share the NICs of all nodes at once.
[[nodiscard]] Scenario compared_scenario(const std::string& policy, Shape shape,
                                         std::uint64_t steps);

}  // namespace cohort
