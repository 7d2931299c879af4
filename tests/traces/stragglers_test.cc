#include "traces/stragglers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "policies/errors.h"
#include "policies/random.h"
#include "traces/normal_ziggurat.h"

namespace cohort {
namespace {

constexpr Time kBase{100'000'000};
constexpr std::uint32_t kWorkers = 16;
const Topology kCluster(4, 4);
const Topology kPair(1, 2);

StepTimes step_times(std::vector<StragglerSpec> models, std::uint64_t seed = 1) {
  return {std::vector<Time>(kWorkers, kBase), std::move(models), kCluster, seed};
}

double factor(Time time) {
  return static_cast<double>(time.count()) / static_cast<double>(kBase.count());
}

double mean_factor(StepTimes& times, std::uint64_t steps) {
  double sum = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) sum += factor(times(WorkerId{w}, step));
  }
  return sum / static_cast<double>(steps * kWorkers);
}

// Mean over steps of the slowest of the first `workers`.
double mean_slowest(StepTimes& times, std::uint32_t workers, std::uint64_t steps) {
  double sum = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    double slowest = 0;
    for (std::uint32_t w = 0; w < workers; ++w) {
      slowest = std::max(slowest, factor(times(WorkerId{w}, step)));
    }
    sum += slowest;
  }
  return sum / static_cast<double>(steps);
}

std::shared_ptr<const ComputeTrace> trace(std::uint32_t workers, std::uint64_t steps,
                                          std::vector<Time> times) {
  return std::make_shared<const ComputeTrace>(workers, steps, std::move(times));
}

// Tolerances of the statistical tests: four standard errors of the mean.
constexpr std::uint64_t kSteps = 40'000;

TEST_CASE("stragglers: no model leaves the base time") {
  StepTimes times({Time{5}, Time{7}}, {}, kPair, 1);
  CHECK(times(WorkerId{0}, 0) == Time{5});
  CHECK(times(WorkerId{1}, 9) == Time{7});
}

TEST_CASE("SEMANTICS 4: all-reduce under Bernoulli(1/16) waits for 1 + (k-1)(1-(1-p)^16)") {
  const double any_slow = 1 - std::pow(1 - 1.0 / 16, 16);
  const double deviation = std::sqrt(any_slow * (1 - any_slow));
  for (const auto& [k, right] : {std::pair{2.0, 1.644}, std::pair{5.0, 3.576}}) {
    CHECK(1 + (k - 1) * any_slow == doctest::Approx(right).epsilon(0.0003));
    StepTimes times = step_times({{Bernoulli{1.0 / 16, k}}});
    const double tolerance = 4 * (k - 1) * deviation / std::sqrt(kSteps);
    CHECK(std::abs(mean_slowest(times, 16, kSteps) - (1 + (k - 1) * any_slow)) < tolerance);
  }
}

TEST_CASE("SEMANTICS 4: a group of four under Bernoulli waits for the same with g") {
  const double any_slow = 1 - std::pow(1 - 1.0 / 16, 4);
  StepTimes times = step_times({{Bernoulli{1.0 / 16, 5}}});
  const double tolerance = 4 * 4 * std::sqrt(any_slow * (1 - any_slow) / kSteps);
  CHECK(std::abs(mean_slowest(times, 4, kSteps) - (1 + 4 * any_slow)) < tolerance);
}

TEST_CASE("SEMANTICS 4: without synchronisation Bernoulli(1/16) x 5 costs 1.25") {
  StepTimes times = step_times({{Bernoulli{1.0 / 16, 5}}});
  const double tolerance = 4 * 4 * std::sqrt(15.0 / 256 / (kSteps * kWorkers));
  CHECK(std::abs(mean_factor(times, kSteps) - 1.25) < tolerance);
}

TEST_CASE("stragglers: certain and impossible slowdowns") {
  StepTimes always = step_times({{Bernoulli{1, 3}}});
  StepTimes never = step_times({{Bernoulli{0, 3}}});
  CHECK(mean_slowest(always, 16, 100) == 3);
  CHECK(mean_slowest(never, 16, 100) == 1);
}

TEST_CASE("stragglers: lognormal jitter has mean 1 and standard deviation of its logarithm sigma") {
  const double sigma = 0.3;
  StepTimes times = step_times({{Lognormal{sigma}}});
  double sum = 0;
  double squares = 0;
  const double count = static_cast<double>(kSteps) * kWorkers;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      const double k = factor(times(WorkerId{w}, step));
      sum += k;
      squares += std::pow(std::log(k) + sigma * sigma / 2, 2);
    }
  }
  const double deviation = std::sqrt(std::exp(sigma * sigma) - 1);
  CHECK(std::abs(sum / count - 1) < 4 * deviation / std::sqrt(count));
  CHECK(std::abs(squares / count / (sigma * sigma) - 1) < 4 * std::sqrt(2 / count));
}

TEST_CASE("normal ziggurat: the empirical distribution is the normal one (Kolmogorov-Smirnov)") {
  const NormalZiggurat normal;
  const std::size_t count = 400'000;
  std::vector<double> draws;
  for (std::uint32_t i = 0; i < count; ++i) {
    Stream stream(3, Purpose::Jitter, i, 0);
    draws.push_back(normal(stream));
  }
  std::ranges::sort(draws);
  double distance = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double below = std::erfc(-draws[i] / std::sqrt(2.0)) / 2;
    distance = std::max({distance, std::abs(below - static_cast<double>(i) / count),
                         std::abs(below - static_cast<double>(i + 1) / count)});
  }
  CHECK(distance < 1.95 / std::sqrt(count));  // exceeded once in a thousand by chance
  CHECK(draws.front() < -4);
  CHECK(draws.back() > 4);
}

TEST_CASE("normal ziggurat: the tail beyond its last layer has the right weight and mean") {
  const NormalZiggurat normal;
  const double start = 3.442619855899;
  const std::size_t count = 4'000'000;
  double beyond = 0;
  double sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Stream stream(5, Purpose::Jitter, i, 0);
    const double x = std::abs(normal(stream));
    if (x > start) beyond += 1, sum += x;
  }
  const double weight = std::erfc(start / std::sqrt(2.0));
  CHECK(std::abs(beyond - weight * count) < 4 * std::sqrt(weight * count));
  const double density = std::exp(-start * start / 2) / std::sqrt(2 * std::acos(-1.0));
  CHECK(std::abs(sum / beyond - 2 * density / weight) < 4 * 0.27 / std::sqrt(beyond));
}

TEST_CASE("stragglers: exponential jitter adds its mean") {
  StepTimes times = step_times({{ShiftedExponential{Time{20'000'000}}}});
  CHECK(std::abs(mean_factor(times, kSteps) - 1.2) < 4 * 0.2 / std::sqrt(kSteps * kWorkers));
}

TEST_CASE("stragglers: Pareto jitter is at least its scale and its tail falls with the shape") {
  StepTimes times = step_times({{Pareto{3, Time{10'000'000}}}});
  const double count = static_cast<double>(kSteps) * kWorkers;
  double beyond_double = 0;
  double least = 1e9;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      const double added = factor(times(WorkerId{w}, step)) - 1;
      least = std::min(least, added);
      if (added > 0.2) beyond_double += 1;
    }
  }
  CHECK(least >= 0.1 - 1e-12);
  const double right = 1.0 / 8;  // (scale / 2 scale)^3
  CHECK(std::abs(beyond_double / count - right) < 4 * std::sqrt(right * (1 - right) / count));
}

TEST_CASE("stragglers: a Pareto time beyond 292 years is an error of the input") {
  StepTimes times = step_times({{Pareto{0.01, Time{1'000'000'000}}}});
  CHECK_THROWS_AS((void)mean_factor(times, 100), InputError);
}

TEST_CASE("stragglers: bursts start normal and stay slow a share enter/(enter+leave)") {
  StepTimes times = step_times({{Burst{0.1, 0.3, 2}}});
  for (std::uint32_t w = 0; w < kWorkers; ++w) CHECK(times(WorkerId{w}, 0) == kBase);
  // Correlation 0.6 from step to step multiplies the variance by (1 + 0.6) / (1 - 0.6) = 4.
  const double tolerance = 4 * std::sqrt(4 * 0.25 * 0.75 / (kSteps * kWorkers));
  CHECK(std::abs(mean_factor(times, kSteps) - 1.25) < tolerance);
}

TEST_CASE("stragglers: a burst does not depend on which steps were asked before") {
  StepTimes each = step_times({{Burst{0.2, 0.2, 2}}});
  StepTimes some = step_times({{Burst{0.2, 0.2, 2}}});
  for (std::uint64_t step = 0; step < 200; ++step) {
    const Time time = each(WorkerId{3}, step);
    if (step % 7 == 0) CHECK(some(WorkerId{3}, step) == time);
  }
  CHECK_THROWS_AS((void)each(WorkerId{3}, 10), ContractError);
}

TEST_CASE("stragglers: the order in which workers ask changes nothing") {
  const std::vector<StragglerSpec> models = {{Bernoulli{0.1, 5}},
                                             {Burst{0.1, 0.3, 2}, Scope::Node},
                                             {Lognormal{0.1}},
                                             {Pareto{2, Time{1000}}}};
  StepTimes forward = step_times(models, 7);
  StepTimes backward = step_times(models, 7);
  std::vector<std::vector<Time>> drawn(kWorkers);
  for (std::uint32_t w = 0; w < kWorkers; ++w) {
    for (std::uint64_t step = 0; step < 100; ++step) drawn[w].push_back(forward(WorkerId{w}, step));
  }
  bool same = true;
  for (std::uint64_t step = 0; step < 100; ++step) {
    for (std::uint32_t w = kWorkers; w-- > 0;) {
      same = same && backward(WorkerId{w}, step) == drawn[w][step];
    }
  }
  CHECK(same);
}

TEST_CASE("stragglers: a worker of a large run draws what it draws in a small one") {
  const std::vector<StragglerSpec> models = {{Bernoulli{0.1, 5}},
                                             {Burst{0.1, 0.3, 2}},
                                             {Lognormal{0.1}},
                                             {ShiftedExponential{Time{1'000'000}}}};
  const Topology large_cluster(500, 4);
  StepTimes small = step_times(models, 7);
  StepTimes large(std::vector<Time>(2'000, kBase), models, large_cluster, 7);
  bool same = true;
  for (std::uint64_t step = 0; step < 100; ++step) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      same = same && small(WorkerId{w}, step) == large(WorkerId{w}, step);
    }
  }
  CHECK(same);
}

TEST_CASE("stragglers: a time beyond 292 years that the run does not reach is no error") {
  const Time years{1'000'000'000'000'000'000};
  StepTimes times({years, years}, {{Bernoulli{0.2, 50}}}, kPair, 1);
  std::uint64_t reached = 0;
  const auto until_slow = [&] {
    while (times(WorkerId{0}, reached) == years) ++reached;
  };
  CHECK_THROWS_AS(until_slow(), InputError);
  CHECK(reached > 0);
}

TEST_CASE("stragglers: another seed, worker or model draws something else") {
  StepTimes one = step_times({{Lognormal{0.1}}}, 1);
  StepTimes two = step_times({{Lognormal{0.1}}}, 2);
  StepTimes both = step_times({{Lognormal{0.1}}, {Lognormal{0.1}}}, 1);
  const double first = factor(one(WorkerId{0}, 0));
  CHECK(first != factor(two(WorkerId{0}, 0)));
  CHECK(first != factor(one(WorkerId{1}, 0)));
  CHECK(first != factor(one(WorkerId{0}, 1)));
  CHECK(std::abs(factor(both(WorkerId{0}, 0)) - (2 * first - 1)) > 1e-6);
}

TEST_CASE("stragglers: scope node slows a node together, scope all everybody") {
  StepTimes node = step_times({{Lognormal{0.1}, Scope::Node}});
  StepTimes all = step_times({{Bernoulli{0.5, 3}, Scope::All}});
  for (std::uint64_t step = 0; step < 50; ++step) {
    const Time on_first = node(WorkerId{0}, step);
    CHECK(node(WorkerId{3}, step) == on_first);
    CHECK(node(WorkerId{4}, step) != on_first);
    const Time everybody = all(WorkerId{0}, step);
    CHECK(all(WorkerId{15}, step) == everybody);
  }
}

TEST_CASE("stragglers: factors add as (factor - 1), fixed ones by worker or by its node") {
  StepTimes times = step_times({{Fixed{{1}, 2.5}}, {Fixed{{1, 6}, 2}, Scope::Node}});
  CHECK(times(WorkerId{0}, 0) == Time{200'000'000});
  CHECK(times(WorkerId{1}, 0) == Time{350'000'000});
  CHECK(times(WorkerId{5}, 0) == Time{200'000'000});
  CHECK(times(WorkerId{8}, 0) == kBase);
  CHECK_THROWS_AS(step_times({{Fixed{{16}, 2}}}), ContractError);
}

TEST_CASE("stragglers: the sum of factors is floored at 0.01") {
  StepTimes times = step_times({{Fixed{{0}, 0.1}}, {Fixed{{0}, 0.1}}});
  CHECK(times(WorkerId{0}, 0) == Time{1'000'000});
}

TEST_CASE("stragglers: durations are rounded up, exact products stay") {
  StepTimes times({Time{10}, Time{3}}, {{Fixed{{0, 1}, 1.1}}}, kPair, 1);
  CHECK(times(WorkerId{0}, 0) == Time{11});
  CHECK(times(WorkerId{1}, 0) == Time{4});
}

TEST_CASE("stragglers: a replay of seconds is the trace, and stands alone") {
  const auto recorded = trace(2, 2, {Time{1}, Time{2}, Time{3}, Time{4}});
  StepTimes times({Time{9}, Time{9}}, {{Replay{recorded}}}, kPair, 1);
  CHECK(times(WorkerId{1}, 0) == Time{3});
  CHECK(times(WorkerId{0}, 1) == Time{2});
  CHECK_THROWS_AS((void)times(WorkerId{0}, 2), InputError);
  CHECK_THROWS_AS(StepTimes({Time{9}, Time{9}}, {{Replay{recorded}}, {Lognormal{0.1}}}, kPair, 1),
                  ContractError);
}

TEST_CASE("stragglers: a replay of factors is relative to the median and joins other models") {
  const auto recorded = trace(2, 2, {Time{10}, Time{10}, Time{10}, Time{40}});
  StepTimes times({Time{100}, Time{100}},
                  {{Replay{recorded, Replay::As::Factor, true}}, {Fixed{{0}, 2}}}, kPair, 1);
  CHECK(times(WorkerId{1}, 1) == Time{400});
  CHECK(times(WorkerId{1}, 3) == Time{400});
  CHECK(times(WorkerId{0}, 0) == Time{200});
}

TEST_CASE("stragglers: a trace of other workers or fewer steps does not fit unless it repeats") {
  Replay replay{trace(2, 3, std::vector<Time>(6, Time{5}))};
  CHECK_FALSE(misfit(replay, 2, 3));
  CHECK_FALSE(misfit(replay, 2, 2));
  CHECK_FALSE(misfit(replay, 2, std::nullopt));
  REQUIRE(misfit(replay, 4, 3));
  CHECK(misfit(replay, 4, 3)->find("2 workers, the run needs 4") != std::string::npos);
  REQUIRE(misfit(replay, 2, 4));
  CHECK(misfit(replay, 2, 4)->find("repeat") != std::string::npos);
  replay.repeat = true;
  CHECK_FALSE(misfit(replay, 4, 400));
  replay = {trace(1, 1, {Time{0}}), Replay::As::Factor};
  CHECK(misfit(replay, 1, 1));
}

TEST_CASE("stragglers: values that a spec reader refuses break the contract") {
  CHECK_THROWS_AS(step_times({{Bernoulli{1.5, 2}}}), ContractError);
  CHECK_THROWS_AS(step_times({{Bernoulli{0.5, 0}}}), ContractError);
  CHECK_THROWS_AS(step_times({{Lognormal{-1}}}), ContractError);
  CHECK_THROWS_AS(step_times(std::vector<StragglerSpec>(65, {Lognormal{0.1}})), ContractError);
  CHECK_THROWS_AS(StepTimes({Time{1}}, {}, kCluster, 1), ContractError);
}

TEST_CASE("link stragglers: holding times are exponential with the rate of their state") {
  const LinkSwitches link({{0}, 2.0, 0.5, 4}, 0, 1);
  double fast = 0;
  double slow = 0;
  const double count = 20'000;
  for (std::uint64_t k = 0; k < 40'000; k += 2) {
    fast += static_cast<double>(link.hold(0, k)->count()) * 1e-9;
    slow += static_cast<double>(link.hold(0, k + 1)->count()) * 1e-9;
  }
  CHECK(std::abs(fast / count - 0.5) < 4 * 0.5 / std::sqrt(count));
  CHECK(std::abs(slow / count - 2) < 4 * 2 / std::sqrt(count));
  CHECK(link.hold(0, 0) != link.hold(1, 0));
  CHECK(link.hold(0, 0) == link.hold(0, 0));
}

TEST_CASE("link stragglers: rate 0 never ends") {
  const LinkSwitches stays({{0}, 1.0, 0.0, 4}, 0, 1);
  CHECK(stays.hold(0, 0));
  CHECK_FALSE(stays.hold(0, 1));
}

}  // namespace
}  // namespace cohort
