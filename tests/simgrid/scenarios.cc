#include "tests/simgrid/scenarios.h"

#include <memory>
#include <utility>
#include <vector>

namespace cohort {
namespace {

ComputeTrace record(const Topology& topology, std::uint64_t steps) {
  const double n = topology.workers();
  StepTimes draw(std::vector<Time>(topology.workers(), Time{100'000'000}),
                 {{.model = Bernoulli{.probability = 1 / n, .factor = 5}},
                  {.model = Lognormal{.sigma = 0.02}}},
                 topology, 7);
  std::vector<Time> times;
  for (std::uint32_t worker = 0; worker < topology.workers(); ++worker)
    for (std::uint64_t step = 0; step < steps; ++step)
      times.push_back(draw(WorkerId{worker}, step));
  return ComputeTrace(topology.workers(), steps, std::move(times));
}

// Groups of one local rank each over the first `span(rank)` nodes; every other worker is alone.
template <typename Span>
Phase across_nodes(Shape shape, Span&& span) {
  Phase phase;
  for (std::uint32_t rank = 0; rank < shape.gpus_per_node; ++rank) {
    Group group;
    for (std::uint32_t node = 0; node < span(rank); ++node)
      group.push_back(node * shape.gpus_per_node + rank);
    phase.push_back(group);
  }
  return phase;
}

// All nodes for each rank; then fewer nodes the higher the rank, so that long and short rings share
// NICs; then each node alone.
Phases contended_phases(Shape shape) {
  Phase inside;
  for (std::uint32_t node = 0; node < shape.nodes; ++node) {
    Group group;
    for (std::uint32_t rank = 0; rank < shape.gpus_per_node; ++rank)
      group.push_back(node * shape.gpus_per_node + rank);
    inside.push_back(group);
  }
  return {across_nodes(shape, [&](std::uint32_t) { return shape.nodes; }),
          across_nodes(
              shape,
              [&](std::uint32_t rank) { return rank + 1 < shape.nodes ? shape.nodes - rank : 2; }),
          inside};
}

}  // namespace

ClusterSpec compared_cluster(Shape shape) {
  ClusterSpec cluster;
  cluster.gpus_per_node.assign(shape.nodes, shape.gpus_per_node);
  cluster.nic_bandwidth.assign(shape.nodes, 7e9);
  cluster.nic_latency.assign(shape.nodes, Time{});
  cluster.fabric_bandwidth = 1e10;
  cluster.compute_factor.assign(std::size_t{shape.nodes} * shape.gpus_per_node, 1);
  return cluster;
}

Scenario compared_scenario(const std::string& policy, Shape shape, std::uint64_t steps) {
  Scenario scenario;
  scenario.cluster = compared_cluster(shape);
  scenario.workload.compute = Time{100'000'000};
  scenario.workload.payload = 60e6;
  Replay replay;
  replay.trace =
      std::make_shared<ComputeTrace>(record(Topology(scenario.cluster.gpus_per_node), steps));
  scenario.stragglers.push_back({.model = replay});
  Options options;
  if (policy == "contended") options.set("phases", contended_phases(shape));
  scenario.policy = find_policy(policy == "contended" ? "static" : policy);
  scenario.options = resolve(*scenario.policy, options);
  scenario.label = policy;
  scenario.stop.steps_per_worker = steps;
  return scenario;
}

}  // namespace cohort
