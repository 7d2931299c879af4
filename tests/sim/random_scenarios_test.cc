// Scenarios drawn at random, every policy and option among them: each run ends, keeps every promise
// of the interface (CheckedPolicy) and reports what its stop rule and its losses allow.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policies/errors.h"
#include "policies/random.h"
#include "tests/sim/training_runs.h"

namespace cohort {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : stream_(seed, Purpose::Failure, 0, 0) {}

  std::uint32_t below(std::uint32_t bound) { return stream_.below(bound); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  Time up_to(Time longest) { return longest * below(1001) / 1000; }

 private:
  Stream stream_;
};

ClusterSpec cluster(Draw& draw) {
  ClusterSpec cluster;
  cluster.gpus_per_node.resize(1 + draw.below(4));
  for (auto& gpus : cluster.gpus_per_node) gpus = 1 + draw.below(4);
  const std::size_t nodes = cluster.gpus_per_node.size();
  cluster.nic_bandwidth.assign(nodes, 1e9 * (1 + draw.below(9)));
  cluster.nic_latency.assign(nodes, draw.up_to(20us));
  cluster.nics_per_node = 1 + draw.below(2);
  cluster.fabric = draw.one_in(2) ? FabricKind::Shared : FabricKind::Switched;
  cluster.fabric_bandwidth = 1e9 * (1 + draw.below(9));
  if (draw.one_in(4)) cluster.core_bandwidth = 3e9;
  if (draw.one_in(4)) cluster.host_bandwidth = 5e9;
  if (draw.one_in(4)) cluster.memory_bandwidth = 20e9;
  if (draw.one_in(3)) cluster.collective = static_cast<Collective>(draw.below(4));
  if (draw.one_in(3)) cluster.communicator_setup = draw.up_to(100ms);
  cluster.communicator_cache = 1 + draw.below(5);
  if (draw.one_in(3)) cluster.coordination_latency = draw.up_to(20ms);
  if (draw.one_in(3)) cluster.coordination_service = draw.up_to(2ms);
  return cluster;
}

// An option of any type takes a value that is neither its default nor, mostly, refused.
void draw_options(Draw& draw, const PolicyEntry& entry, Choice& choice) {
  for (const OptionSpec& option : entry.options) {
    if (!draw.one_in(3)) continue;
    if (option.type == OptionType::Flag) choice.options.push_back({option.name, draw.one_in(2)});
    if (option.type == OptionType::Count)
      choice.options.push_back({option.name, std::int64_t{option.minimum + draw.below(5)}});
    if (option.type == OptionType::Choice)
      choice.options.push_back(
          {option.name,
           option.choices[draw.below(static_cast<std::uint32_t>(option.choices.size()))]});
    if (option.type == OptionType::Duration)
      choice.options.push_back({option.name, draw.up_to(5ms)});
    if (option.type == OptionType::Bandwidth) choice.options.push_back({option.name, 0.7e9});
  }
}

Scenario scenario(Draw& draw) {
  Scenario scenario;
  scenario.cluster = cluster(draw);
  std::uint32_t workers = 0;
  for (const auto gpus : scenario.cluster.gpus_per_node) workers += gpus;
  scenario.cluster.compute_factor.assign(workers, 1.0);
  scenario.workload.compute = 1ms + draw.up_to(100ms);
  scenario.workload.payload = 1e6 * (1 + draw.below(100));
  scenario.workload.buckets = 1 + draw.below(4);
  if (draw.one_in(3)) scenario.workload.interference = 0.1 * draw.below(20);
  if (draw.one_in(4)) scenario.workload.drain = draw.up_to(5ms);
  scenario.stragglers = {{.model = Bernoulli{.probability = 0.1, .factor = 1.0 + draw.below(5)}}};
  if (draw.one_in(2)) scenario.stragglers.push_back({.model = Lognormal{.sigma = 0.1}});
  if (draw.one_in(4))
    scenario.link_stragglers = {
        {.nodes = {0}, .enter_per_second = 10, .leave_per_second = 20, .factor = 4}};
  scenario.stop.steps_per_worker = 1 + draw.below(30);
  if (draw.one_in(4)) scenario.stop.total_steps = 1 + draw.below(workers * 30);
  if (draw.one_in(4)) scenario.stop.seconds = 1ms + draw.up_to(5s);
  if (draw.one_in(2))
    for (auto losses = draw.below(workers + 1); losses > 0; --losses)
      scenario.losses.push_back({.at = draw.up_to(3s), .worker = WorkerId{draw.below(workers)}});
  const auto policies = all_policies();
  Choice choice{policies[draw.below(static_cast<std::uint32_t>(policies.size()))].name};
  draw_options(draw, *find_policy(choice.kind), choice);
  choose(scenario, choice);
  return scenario;
}

void check_steps(const Scenario& scenario, const ResultRow& row) {
  const std::uint64_t all = *scenario.stop.steps_per_worker * row.workers;
  CHECK(row.worker_steps <= std::min(all, scenario.stop.total_steps.value_or(all)));
  if (scenario.losses.empty() && !scenario.stop.seconds)
    CHECK(row.worker_steps == std::min(all, scenario.stop.total_steps.value_or(all)));
}

TEST_CASE("simulation: random scenarios end, keep every promise and account for all time") {
  std::uint32_t refused = 0, ended = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const Scenario drawn = scenario(draw);
    CAPTURE(drawn.label);
    try {
      const ResultRow row = run(drawn, seed);
      ++ended;
      check_steps(drawn, row);
      CHECK(sum_of_fractions(row) == doctest::Approx(1.0).epsilon(1e-9));
      for (const double share :
           {row.compute_fraction, row.wait_fraction, row.sync_fraction, row.coordinate_fraction})
        CHECK(share >= 0);
    } catch (const InputError&) {
      ++refused;  // options that do not fit this many workers or one another
    }
  }
  CHECK(refused < ended / 3);
}

TEST_CASE("simulation: with training random scenarios take the same time, on any threads") {
  std::uint32_t ended = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    Scenario drawn = scenario(draw);
    drawn.seed = seed;
    CAPTURE(drawn.label);
    try {
      const ResultRow without = simulate(drawn);
      train(drawn, {.model = QuadraticOptions{.dimensions = 4}});
      const Trained one = trained(drawn), two = trained(drawn, {.threads = 2});
      ++ended;
      CHECK(one.row.elapsed_seconds == without.elapsed_seconds);
      CHECK(one.row.worker_steps == without.worker_steps);
      CHECK(one.row.wait_fraction == without.wait_fraction);
      CHECK(one.model == two.model);
      CHECK(one.learning().curve.back().mean == two.learning().curve.back().mean);
    } catch (const InputError&) {
      continue;  // options that do not fit
    }
  }
  CHECK(ended > 200);
}

}  // namespace
}  // namespace cohort
