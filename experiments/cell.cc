#include "experiments/cell.h"

#include <algorithm>

namespace cohort {

namespace {

std::shared_ptr<const TrainingPlan> with_rates(std::shared_ptr<const TrainingPlan> plan,
                                               const std::optional<Rates>& rates) {
  if (!plan || !rates) return plan;
  auto changed = std::make_shared<TrainingPlan>(*plan);
  changed->training.sgd.learning_rate = rates->learning_rate;
  changed->training.sgd.momentum = rates->momentum;
  return changed;
}

}  // namespace

Scenario Cell::scenario(const PolicyChoice& policy, std::uint64_t seed,
                        const std::optional<Rates>& rates) const {
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
  scenario.training = with_rates(training.plan, rates);
  return scenario;
}

}  // namespace cohort
