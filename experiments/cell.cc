#include "experiments/cell.h"

#include <algorithm>

namespace cohort {

Scenario Cell::scenario(const PolicyChoice& policy, std::uint64_t seed) const {
  Scenario scenario;
  scenario.cluster = cluster;
  auto& factors = scenario.cluster.compute_factor;
  if (std::ranges::all_of(factors, [](double factor) { return factor == 1; }))
    factors = std::vector<double>();
  scenario.workload = workload;
  scenario.stragglers = stragglers;
  scenario.link_stragglers = link_stragglers;
  scenario.policy = policy.entry;
  scenario.options = policy.options;
  scenario.label = policy.label;
  scenario.stop = stop;
  scenario.warmup_steps = warmup_steps;
  scenario.seed = seed;
  return scenario;
}

}  // namespace cohort
