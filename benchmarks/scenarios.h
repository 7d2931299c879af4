// Scenarios that several benchmarks share: the example of DESIGN 6, at any size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario.h"

namespace cohort {

struct BenchShape {
  std::uint32_t nodes, gpus_per_node;
};

// 56 Gbit/s NICs of 5 us, 10 GB/s switched fabric of 3 us, 100 us of coordination latency, 100 ms
// of compute, 60 MB of parameters.
[[nodiscard]] Scenario bench_scenario(const std::string& policy, BenchShape shape,
                                      std::vector<StragglerSpec> stragglers,
                                      std::uint64_t steps_per_worker);

// Each step slowed five times at a rate of 1/n a step.
[[nodiscard]] StragglerSpec bench_slowdown(BenchShape shape);
// 2 % lognormal jitter.
[[nodiscard]] StragglerSpec bench_jitter();

}  // namespace cohort
