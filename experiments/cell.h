// One cell of a sweep, resolved: every value is there, checked, and in the simulator's units. A
// cell has several policies and seeds; each pair of them is one scenario and one row of results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run_spec.h"
#include "policies/registry.h"
#include "sim/scenario.h"
#include "traces/stragglers.h"

namespace cohort {

struct PolicyChoice {
  const PolicyEntry* entry = nullptr;
  Options options;  // resolved
  std::string label;
};

struct Cell {
  ClusterSpec cluster;
  WorkloadSpec workload;
  std::vector<StragglerSpec> stragglers;
  std::vector<LinkStraggler> link_stragglers;
  std::vector<PolicyChoice> policies;
  StopRule stop;
  std::optional<std::uint64_t> warmup_steps;
  std::vector<std::uint64_t> seeds;
  std::vector<std::uint64_t>
      trace_fingerprints;  // of the contents of recorded traces, in the spec's order
  RunSpec run;             // of real runs

  [[nodiscard]] std::uint32_t workers() const {
    return static_cast<std::uint32_t>(cluster.compute_factor.size());
  }
  [[nodiscard]] Scenario scenario(const PolicyChoice& policy, std::uint64_t seed) const;
};

}  // namespace cohort
