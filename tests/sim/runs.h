// Scenarios for tests of whole simulated runs, built by hand: the cluster of SEMANTICS 4 and
// recorded compute times.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policies/registry.h"
#include "sim/scenario.h"
#include "traces/units.h"

namespace cohort {

using namespace std::chrono_literals;

struct Choice {  // a policy with the options that differ from their defaults
  std::string kind;
  std::vector<std::pair<std::string, OptionValue>> options{};
};

inline void choose(Scenario& scenario, const Choice& choice) {
  scenario.policy = find_policy(choice.kind);
  REQUIRE(scenario.policy != nullptr);
  Options given;
  for (const auto& [name, value] : choice.options) given.set(name, value);
  scenario.options = resolve(*scenario.policy, given);
  scenario.label = default_label(*scenario.policy, given);
}

// `nodes` x `gpus`, 100 ms of compute, 60 MB, nic 56 Gbit/s, switched fabric 10 GB/s, no latency,
// 500 steps each.
inline Scenario scenario_of(std::uint32_t nodes, std::uint32_t gpus, const Choice& choice) {
  Scenario scenario;
  scenario.cluster.gpus_per_node.assign(nodes, gpus);
  scenario.cluster.nic_bandwidth.assign(nodes, 7e9);
  scenario.cluster.nic_latency.assign(nodes, Time{});
  scenario.cluster.fabric_bandwidth = 10e9;
  scenario.cluster.compute_factor.assign(std::size_t{nodes} * gpus, 1.0);
  scenario.workload.compute = 100ms;
  scenario.workload.payload = 60e6;
  scenario.stop.steps_per_worker = 500;
  choose(scenario, choice);
  return scenario;
}

// Worker w computes `times[w][s]` in step s. All rows have the same length.
inline void replay(Scenario& scenario, const std::vector<std::vector<Time>>& times) {
  std::vector<Time> dense;
  for (const auto& row : times) dense.insert(dense.end(), row.begin(), row.end());
  auto trace = std::make_shared<const ComputeTrace>(static_cast<std::uint32_t>(times.size()),
                                                    times.front().size(), std::move(dense));
  scenario.stragglers = {{.model = Replay{.trace = std::move(trace)}}};
}

[[nodiscard]] inline ResultRow run(Scenario scenario, std::uint64_t seed = 1) {
  scenario.seed = seed;
  return simulate(scenario);
}

[[nodiscard]] inline double throughput(const ResultRow& row) {
  REQUIRE(row.throughput_steps_per_second.has_value());
  return *row.throughput_steps_per_second;
}

// Sees when each synchronisation was done, in order, and when workers reported ready.
struct Instants final : ActionLog {
  void record(const Event& event, const Actions&) override {
    if (event.kind == EventKind::SyncDone) done.push_back(event.at);
    if (event.kind == EventKind::WorkerReady) ready.push_back(event.at);
  }
  std::vector<Time> done, ready;
};

[[nodiscard]] inline Instants instants(const Scenario& scenario) {
  Instants seen;
  (void)simulate(scenario, {.log = &seen});
  return seen;
}

// Mean throughput over the seeds 1..seeds.
[[nodiscard]] inline double mean_throughput(const Scenario& scenario, std::uint64_t seeds) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) sum += throughput(run(scenario, seed));
  return sum / static_cast<double>(seeds);
}

// Each worker's own steps take `per_step` seconds and it does `steps` of them: the run to 1 ns per
// synchronisation.
inline void check_step(const ResultRow& row, double per_step, double steps,
                       double synchronisations_per_step = 1) {
  const double tolerance = 1e-9 * (steps * synchronisations_per_step + 1);
  INFO("a step takes ", row.elapsed_seconds / steps, " s, expected ", per_step);
  CHECK(std::abs(row.elapsed_seconds - per_step * steps) <= tolerance);
}

[[nodiscard]] inline double sum_of_fractions(const ResultRow& row) {
  return row.compute_fraction + row.wait_fraction + row.sync_fraction + row.coordinate_fraction;
}

}  // namespace cohort
