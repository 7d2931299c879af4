#include "benchmarks/scenarios.h"

#include <utility>

namespace cohort {

StragglerSpec bench_slowdown(BenchShape shape) {
  return {.model =
              Bernoulli{.probability = 1.0 / (shape.nodes * shape.gpus_per_node), .factor = 5}};
}

StragglerSpec bench_jitter() { return {.model = Lognormal{.sigma = 0.02}}; }

Scenario bench_scenario(const std::string& policy, BenchShape shape,
                        std::vector<StragglerSpec> stragglers, std::uint64_t steps_per_worker) {
  Scenario scenario;
  ClusterSpec& cluster = scenario.cluster;
  cluster.gpus_per_node.assign(shape.nodes, shape.gpus_per_node);
  cluster.nic_bandwidth.assign(shape.nodes, 7e9);
  cluster.nic_latency.assign(shape.nodes, Time{5'000});
  cluster.fabric_bandwidth = 1e10;
  cluster.fabric_latency = Time{3'000};
  cluster.coordination_latency = Time{100'000};
  scenario.workload.compute = Time{100'000'000};
  scenario.workload.payload = 60e6;
  scenario.stragglers = std::move(stragglers);
  scenario.policy = find_policy(policy);
  scenario.options = resolve(*scenario.policy, {});
  scenario.label = policy;
  scenario.stop.steps_per_worker = steps_per_worker;
  return scenario;
}

}  // namespace cohort
