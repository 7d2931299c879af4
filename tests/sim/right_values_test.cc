// The right values of SEMANTICS 4 that speak of simulated runs: closed forms, statistical means,
// inequalities.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/sim/runs.h"

namespace cohort {
namespace {

StragglerSpec slowed_one_in_16(double factor) {
  return {.model = Bernoulli{.probability = 1.0 / 16, .factor = factor}};
}
StragglerSpec worker_0_slow(double factor) {
  return {.model = Fixed{.workers = {0}, .factor = factor}};
}

Scenario four_by_four(const Choice& choice, std::vector<StragglerSpec> stragglers = {}) {
  Scenario scenario = scenario_of(4, 4, choice);
  scenario.stragglers = std::move(stragglers);
  return scenario;
}

// A network so quick that a synchronisation costs nothing but the ns it is rounded up to.
Scenario compute_only(const Choice& choice, double factor) {
  Scenario scenario = four_by_four(choice, {slowed_one_in_16(factor)});
  scenario.workload.payload = 1;
  scenario.stop.steps_per_worker = 4000;
  return scenario;
}

double mean_step_factor(const Scenario& scenario) { return 16 / throughput(run(scenario)) / 0.1; }

TEST_CASE("right values: a ring of 16 nodes x 1 GPU takes 0.0234 s") {
  Scenario scenario = scenario_of(16, 1, {"all-reduce"});
  scenario.cluster.nic_bandwidth.assign(16, 5e9);
  scenario.cluster.nic_latency.assign(16, 15us);
  scenario.stop.steps_per_worker = 50;
  check_step(run(scenario), 0.1 + 0.0234, 50);
}

TEST_CASE("right values: two inter groups on the same NICs both end at twice the lone time") {
  Scenario scenario =
      scenario_of(4, 4, {"static", {{"phases", Phases{{{0, 4, 8, 12}, {1, 5, 9, 13}}}}}});
  scenario.stop.steps_per_worker = 20;
  check_step(run(scenario), 0.1 + 2 * 1.5 * 60e6 / 7e9, 20);
}

TEST_CASE(
    "right values: a group that has moved half before another joins ends at 1.5, the other at 2 "
    "lone times") {
  const Time lone = from_seconds_up(1.5 * 60e6 / 7e9);
  Scenario scenario =
      scenario_of(4, 2, {"static", {{"phases", Phases{{{0, 2, 4, 6}, {1, 3, 5, 7}}}}}});
  scenario.stop.steps_per_worker = 1;
  std::vector<std::vector<Time>> times(8, {100ms});
  for (const auto w : {1, 3, 5, 7}) times[w] = {100ms + lone / 2};
  replay(scenario, times);
  const Instants seen = instants(scenario);
  REQUIRE(seen.done.size() == 2);
  CHECK(std::abs((seen.done[0] - 100ms - lone * 3 / 2).count()) <= 1);
  CHECK(std::abs((seen.done[1] - 100ms - lone * 2).count()) <= 2);
}

TEST_CASE(
    "right values: All-Reduce under Bernoulli(1/16) takes 1 + (k-1)(1 - (1-p)^16) of a step: "
    "1.644, 3.576") {
  CHECK(mean_step_factor(compute_only({"all-reduce"}, 2)) == doctest::Approx(1.644).epsilon(0.02));
  CHECK(mean_step_factor(compute_only({"all-reduce"}, 5)) == doctest::Approx(3.576).epsilon(0.04));
}

TEST_CASE("right values: a group of 4 alone takes 1 + (k-1)(1 - (1-p)^4) of a step") {
  const Phases groups{{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}};
  const double expected = 1 + 4 * (1 - std::pow(15.0 / 16, 4));
  CHECK(mean_step_factor(compute_only({"static", {{"phases", groups}}}, 5)) ==
        doctest::Approx(expected).epsilon(0.04));
}

TEST_CASE("right values: without synchronisation a step takes 1 + (k-1)p = 1.25") {
  CHECK(mean_step_factor(compute_only({"static", {{"phases", Phases{{{0}}}}}}, 5)) ==
        doctest::Approx(1.25).epsilon(0.02));
}

TEST_CASE("right values: one worker alone is changed by no policy") {
  for (const PolicyEntry& entry : all_policies()) {
    if (entry.name == "parameter-server") continue;  // its server is a second member
    CAPTURE(entry.name);
    Choice choice{entry.name};
    for (const OptionSpec& option : entry.options)
      if (option.name == "group_size") choice.options.push_back({"group_size", std::int64_t{1}});
    Scenario scenario = scenario_of(1, 1, choice);
    scenario.stop.steps_per_worker = 10;
    const ResultRow row = run(scenario);
    CHECK(row.elapsed_seconds == doctest::Approx(1.0).epsilon(1e-12));
    CHECK(row.synchronisations == 0);
    CHECK(row.compute_fraction == doctest::Approx(1.0).epsilon(1e-12));
  }
}

TEST_CASE(
    "right values: worker-steps per second without slowdown, as an independent simulation gave "
    "them") {
  CHECK(throughput(run(four_by_four({"all-reduce"}))) == doctest::Approx(137.8).epsilon(0.005));
  CHECK(throughput(run(four_by_four({"static"}))) == doctest::Approx(144.0).epsilon(0.005));
  CHECK(mean_throughput(four_by_four({"smart"}), 5) == doctest::Approx(144.0).epsilon(0.005));
  CHECK(mean_throughput(four_by_four({"ad-psgd"}), 5) == doctest::Approx(152.7).epsilon(0.01));
  CHECK(mean_throughput(four_by_four({"random"}), 5) == doctest::Approx(47.9).epsilon(0.02));
}

TEST_CASE(
    "right values: worker-steps per second under 5x at p = 1/16, as an independent simulation gave "
    "them") {
  const std::vector<StragglerSpec> slow{slowed_one_in_16(5)};
  CHECK(mean_throughput(four_by_four({"all-reduce"}, slow), 10) ==
        doctest::Approx(42.0).epsilon(0.02));
  CHECK(mean_throughput(four_by_four({"ad-psgd"}, slow), 10) ==
        doctest::Approx(122.7).epsilon(0.02));
  CHECK(mean_throughput(four_by_four({"static"}, slow), 10) == doctest::Approx(59.7).epsilon(0.02));
  CHECK(mean_throughput(four_by_four({"random"}, slow), 10) == doctest::Approx(32.3).epsilon(0.03));
  // The seeds of the independent simulation are not ours: its all-reduce lies 2 % below the closed
  // form, and so does smart.
  CHECK(mean_throughput(four_by_four({"smart"}, slow), 10) == doctest::Approx(76.1).epsilon(0.03));
}

TEST_CASE(
    "right values: worker-steps per second with worker 0 always 5x, as an independent simulation "
    "gave them") {
  const std::vector<StragglerSpec> slow{worker_0_slow(5)};
  CHECK(throughput(run(four_by_four({"all-reduce"}, slow))) ==
        doctest::Approx(31.0).epsilon(0.005));
  CHECK(throughput(run(four_by_four({"static"}, slow))) == doctest::Approx(31.5).epsilon(0.005));
  CHECK(mean_throughput(four_by_four({"ad-psgd"}, slow), 5) ==
        doctest::Approx(145.0).epsilon(0.02));
  CHECK(mean_throughput(four_by_four({"smart"}, slow), 5) == doctest::Approx(114.0).epsilon(0.02));
}

TEST_CASE(
    "right values: without slowdown smart >= 0.95 all-reduce, static >= all-reduce, random is "
    "slowest") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const double all_reduce = throughput(run(four_by_four({"all-reduce"}), seed));
    const double random = throughput(run(four_by_four({"random"}), seed));
    CHECK(throughput(run(four_by_four({"smart"}), seed)) >= 0.95 * all_reduce);
    CHECK(throughput(run(four_by_four({"static"}), seed)) >= all_reduce);
    for (const char* other : {"all-reduce", "static", "smart", "ad-psgd", "d-psgd"})
      CHECK(random < throughput(run(four_by_four({other}), seed)));
  }
}

TEST_CASE("right values: under 5x all-reduce < static < smart, and smart >= 1.5 all-reduce") {
  const std::vector<StragglerSpec> slow{slowed_one_in_16(5)};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const double all_reduce = throughput(run(four_by_four({"all-reduce"}, slow), seed));
    const double fixed_groups = throughput(run(four_by_four({"static"}, slow), seed));
    const double smart = throughput(run(four_by_four({"smart"}, slow), seed));
    CHECK(all_reduce < fixed_groups);
    CHECK(fixed_groups < smart);
    CHECK(smart >= 1.5 * all_reduce);
  }
}

TEST_CASE("right values: under 5x ad-psgd keeps at least 0.85/1.25 of its own throughput") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const double alone = throughput(run(four_by_four({"ad-psgd"}), seed));
    CHECK(throughput(run(four_by_four({"ad-psgd"}, {slowed_one_in_16(5)}), seed)) >=
          0.85 / 1.25 * alone);
  }
}

TEST_CASE(
    "right values: with a persistent 5x worker smart >= 3 all-reduce, static < 1.1 all-reduce") {
  const std::vector<StragglerSpec> slow{worker_0_slow(5)};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const double all_reduce = throughput(run(four_by_four({"all-reduce"}, slow), seed));
    CHECK(throughput(run(four_by_four({"smart"}, slow), seed)) >= 3 * all_reduce);
    CHECK(throughput(run(four_by_four({"static"}, slow), seed)) < 1.1 * all_reduce);
  }
}

}  // namespace
}  // namespace cohort
