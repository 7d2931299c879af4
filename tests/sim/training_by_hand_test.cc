// Short runs followed by hand: whose parameters each gradient is taken at, and what it is applied
// to, to the last digit; staleness counted.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/sim/training_runs.h"
#include "tests/training/union_sgd.h"
#include "training/averages.h"

namespace cohort {
namespace {

using test::largest_difference;
using Numbers = ByHand::Numbers;

constexpr auto minus = &ByHand::minus;
constexpr auto mean = &ByHand::mean;

// Two workers on one node; transfers take no time unless a payload is given.
Scenario two_workers(const Choice& choice, const std::vector<std::vector<Time>>& times) {
  auto scenario = scenario_of(1, 2, choice);
  scenario.workload.payload = 0;
  replay(scenario, times);
  scenario.stop.steps_per_worker = times.front().size();
  train(scenario, {.model = QuadraticOptions{.dimensions = 8}, .sgd = {.learning_rate = 0.1}});
  return scenario;
}

// The fast worker's nine steps fit into the slow one's first.
Scenario fast_and_slow(const Choice& choice) {
  auto scenario = two_workers(choice, {std::vector<Time>(20, 10ms), std::vector<Time>(20, 95ms)});
  scenario.stop = {.seconds = 96ms};
  return scenario;
}

const Choice kAsync{"parameter-server", {{"mode", std::string("async")}}};

TEST_CASE("by hand: ad-psgd applies a passive worker's stale gradient to what averages have left") {
  const auto scenario = fast_and_slow({"ad-psgd"});
  const auto run = trained_in_double(scenario);
  ByHand hand(scenario);
  const Numbers start = hand.initial();
  Numbers fast = start, slow = start;
  for (std::uint64_t step = 0; step < 9; ++step)
    fast = slow = mean(minus(fast, hand.step(fast, 0, step)), slow);
  slow = minus(slow, hand.step(start, 1, 0));
  CHECK(largest_difference(run.model, mean(fast, slow)) < 1e-14);
}

TEST_CASE("by hand: the staleness of ad-psgd is the averages that came during the step") {
  const auto run = trained(fast_and_slow({"ad-psgd"}));
  CHECK(run.learning().samples_per_worker == std::vector<std::uint64_t>{9 * 32, 32});
  CHECK(*run.learning().effective_staleness == doctest::Approx(9.0 / 10));
}

TEST_CASE("by hand: an asynchronous server applies each push alone, at rate / n, stale or not") {
  const auto scenario = fast_and_slow(kAsync);
  const auto run = trained_in_double(scenario);
  ByHand hand(scenario);
  const Numbers start = hand.initial();
  Numbers server = start;
  for (std::uint64_t step = 0; step < 9; ++step)
    server = ByHand::plus(server, hand.step(server, 0, step), -0.5);
  server = ByHand::plus(server, hand.step(start, 1, 0), -0.5);
  CHECK(largest_difference(run.model, server) < 1e-14);
}

TEST_CASE(
    "by hand: the staleness of an asynchronous server is the others' updates since the pull") {
  CHECK(*trained(fast_and_slow(kAsync)).learning().effective_staleness ==
        doctest::Approx(9.0 / 10));
}

TEST_CASE("by hand: an update takes effect at the start of the pull that waited for it") {
  auto choice = kAsync;
  choice.options.push_back({"update_time", OptionValue(Time(4ms))});
  auto scenario = two_workers(choice, {{10ms}, {12ms}});
  const auto run = trained_in_double(scenario);
  ByHand hand(scenario);
  const Numbers start = hand.initial();
  const Numbers first = ByHand::plus(start, hand.step(start, 0, 0), -0.5);
  CHECK(largest_difference(run.model, ByHand::plus(first, hand.step(start, 1, 0), -0.5)) < 1e-14);
  const auto& last = run.learning().curve.back();
  CHECK(run.row.elapsed_seconds == doctest::Approx(0.016));
  // Worker 0 pulled before worker 1's update.
  CHECK(last.consensus_distance ==
        doctest::Approx(std::sqrt(
            squared_distance(std::span<const double>(first), std::span<const double>(run.model)) /
            2)));
}

TEST_CASE("by hand: average_then_update takes the gradient at the old parameters") {
  const auto scenario = two_workers({"all-reduce", {{"order", std::string("average_then_update")}}},
                                    {{10ms, 10ms}, {20ms, 15ms}});
  const auto run = trained_in_double(scenario);
  ByHand hand(scenario);
  const Numbers start = hand.initial();
  const Numbers a = minus(start, hand.step(start, 0, 0)), b = minus(start, hand.step(start, 1, 0));
  const Numbers both = mean(a, b);
  const Numbers last_a = minus(both, hand.step(a, 0, 1)), last_b = minus(both, hand.step(b, 1, 1));
  CHECK(largest_difference(run.model, mean(last_a, last_b)) < 1e-14);
  CHECK(*run.learning().effective_staleness == 1);
}

TEST_CASE("by hand: in the background, mean - snapshot is added to what was learned meanwhile") {
  auto scenario = two_workers({"all-reduce", {{"timing", std::string("background")}}},
                              {{10ms, 10ms}, {10ms, 12ms}});
  scenario.workload.payload = 40e6;  // 4 ms
  const auto run = trained_in_double(scenario);
  ByHand hand(scenario);
  const Numbers start = hand.initial();
  const Numbers a = minus(start, hand.step(start, 0, 0)), b = minus(start, hand.step(start, 1, 0));
  const Numbers both = mean(a, b);  // at 14 ms
  // The gradients of step 1 were taken at a and b.
  const Numbers last_a = minus(both, hand.step(a, 0, 1)), last_b = minus(both, hand.step(b, 1, 1));
  CHECK(largest_difference(run.model, mean(last_a, last_b)) < 1e-14);
  CHECK(*run.learning().effective_staleness == doctest::Approx(2.0 / 4));
}

// Central, 5 ms away, 8 ms a transfer: the group of step 0 is done at 28 ms, after step 1 has ended
// (25 ms) and before the policy hears of that (30 ms), when both go on as of 25 ms.
TEST_CASE("by hand: a worker that goes on at its ready reads what was there then") {
  auto scenario = two_workers(
      {"smart", {{"timing", std::string("background")}, {"group_size", std::int64_t{2}}}},
      {{10ms, 15ms, 10ms}, {10ms, 15ms, 10ms}});
  scenario.cluster.coordination_latency = 5ms;
  scenario.workload.payload = 80e6;
  const auto run = trained_in_double(scenario);
  ByHand hand(scenario);
  const Numbers start = hand.initial();
  const Numbers a0 = minus(start, hand.step(start, 0, 0)),
                b0 = minus(start, hand.step(start, 1, 0));
  const Numbers a1 = minus(a0, hand.step(a0, 0, 1)), b1 = minus(b0, hand.step(b0, 1, 1));
  const Numbers a2 = minus(a1, hand.step(a1, 0, 2)), b2 = minus(b1, hand.step(b1, 1, 2));
  CHECK(largest_difference(run.model, mean(a2, b2)) < 1e-14);  // averages keep the mean
  CHECK(run.row.synchronisations == 3);
  CHECK(*run.learning().effective_staleness == doctest::Approx(2.0 / 6));
}

TEST_CASE("by hand: the sum of d-psgd's row takes what neighbours had at the start's step") {
  auto scenario = scenario_of(1, 3, {"d-psgd"});
  scenario.workload.payload = 0;
  replay(scenario, {{10ms, 10ms}, {11ms, 10ms}, {12ms, 10ms}});
  scenario.stop.steps_per_worker = 2;
  train(scenario, {.model = QuadraticOptions{.dimensions = 8}, .sgd = {.learning_rate = 0.1}});
  const auto run = trained_in_double(scenario);
  ByHand hand(scenario);
  Numbers x = hand.initial();  // three on a ring are all neighbours: equal after each step
  for (std::uint64_t step = 0; step < 2; ++step) {
    Numbers sum(x.size());
    for (std::uint32_t w = 0; w < 3; ++w)
      sum = ByHand::plus(sum, minus(x, hand.step(x, w, step)), 1.0 / 3);
    x = sum;
  }
  CHECK(largest_difference(run.model, x) < 1e-14);
  CHECK(run.learning().curve.back().consensus_distance < 1e-14);
  CHECK(*run.learning().effective_staleness == 0);
}

TEST_CASE("by hand: the schedule counts the samples of all workers together") {
  auto scenario = two_workers({"static"}, {{10ms, 10ms}, {11ms, 11ms}});
  auto training = scenario.training->training;
  training.sgd.schedule = {.milestones = {32, 96}, .decay = 0.5};
  train(scenario, training);
  const auto run = trained_in_double(scenario);
  ByHand hand(scenario);
  const Numbers start = hand.initial();
  // Step 0 is alone or together, both keep the mean; rates 1, 1/2, 1/2, 1/4.
  const auto part = [&](const Numbers& x, std::uint32_t w, std::uint64_t s, double rate) {
    return ByHand::plus(x, hand.step(x, w, s), -rate);
  };
  Numbers a = part(start, 0, 0, 1), b = part(start, 1, 0, 0.5);
  CAPTURE(run.row.synchronisations);
  REQUIRE(run.row.synchronisations == 1);  // of step 1: worker 0 is alone in step 0 on one node
  a = part(a, 0, 1, 0.5);
  b = part(b, 1, 1, 0.25);
  CHECK(largest_difference(run.model, mean(a, b)) < 1e-14);
}

}  // namespace
}  // namespace cohort
