#include "experiments/measured_cluster.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "policies/errors.h"
#include "policies/random.h"

namespace cohort {
namespace {

using Nodes = std::vector<std::vector<std::uint32_t>>;

const Nodes kNodes{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
constexpr double kNic = 25e6, kNicLatency = 100e-6;  // bytes per second, seconds
constexpr double kOneWay = 26e6;  // bytes per second, nothing but acknowledgements the other way
constexpr double kSpread = 0.3;   // of the weights of transfers that share a link
constexpr double kSetup = 0.004;  // of a communicator, seconds
constexpr double kFabric = 1e9, kFabricLatency = 20e-6;

// Some of the patterns that these nodes allow.
std::vector<Pattern> some_patterns() {
  using enum Pattern::Kind;
  return {{"inside a node", AllReduce, {{0, 1}}},
          {"inside every node at once", AllReduce, kNodes},
          {"pair inside a node", Exchange, {{0, 1}}},
          {"across nodes", AllReduce, {{0, 2, 4, 6}}},
          {"across nodes, side by side", AllReduce, {{0, 2, 4, 6}, {1, 3, 5, 7}}},
          {"pair across nodes", Exchange, {{0, 2}}},
          {"to one rank at once", Incast, {{0, 2, 4, 6, 3, 5, 7}}},
          {"ping while others send to one rank", Ping, {{0, 2, 4, 6, 3, 5, 7}}},
          {"everybody", AllReduce, {{0, 1, 2, 3, 4, 5, 6, 7}}}};
}

constexpr double kWindow = 64e3;  // bytes under way on a connection

// Times of a pattern by the cost model: alone, of equal links.
double model_seconds(const Pattern& pattern, double bytes) {
  if (pattern.kind == Pattern::Kind::Incast) return 2 * kNicLatency + 6 * bytes / kOneWay;
  if (pattern.kind == Pattern::Kind::Ping)
    return 4 * kNicLatency + 5 * std::min(kWindow, bytes) / kOneWay;
  if (pattern.name == "pair inside a node") return kFabricLatency + bytes / kFabric;
  if (pattern.name.starts_with("pair")) return 2 * kNicLatency + bytes / kNic;
  const auto g = static_cast<double>(pattern.groups.front().size());
  const bool inside = pattern.name.starts_with("inside");
  const double share = pattern.name == "across nodes, side by side" ? 2 : 1;
  const double hop = inside ? kFabricLatency : 2 * kNicLatency;
  return 2 * (g - 1) * hop + 2 * (g - 1) / g * bytes * share / (inside ? kFabric : kNic);
}

// Six transfers of one size over one link, their weights lognormal: the mean lead over the last
// one.
double simulated_lead(double sigma) {
  constexpr int kTransfers = 6;
  constexpr int kDraws = 20'000;
  double sum = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    Stream stream(7, Purpose::Link, 0, static_cast<std::uint64_t>(draw));
    std::array<double, kTransfers> weights{};
    for (auto& weight : weights) weight = std::exp(sigma * stream.normal());
    std::ranges::sort(weights, std::greater<>());
    double at = 0;
    double ends = 0;
    for (int i = 0; i < kTransfers; ++i) {  // the i-th heaviest ends next; then 1 / weights[i] of
      double open = 0;                      // virtual time is over
      for (int j = i; j < kTransfers; ++j) open += weights[j];
      at += (1 / weights[i] - (i > 0 ? 1 / weights[i - 1] : 0)) * open;
      ends += at;
    }
    sum += 1 - ends / kTransfers / at;
  }
  return sum / kDraws;
}

std::vector<PatternResult> modelled() {
  std::vector<PatternResult> results;
  for (const auto& pattern : some_patterns()) {
    PatternResult result{pattern, {}, kSetup};
    for (const std::uint64_t bytes : {4U, 4'096U, 1'048'576U, 4'194'304U})
      result.timings.push_back(
          {.bytes = bytes,
           .seconds = model_seconds(pattern, static_cast<double>(bytes)),
           .lead = pattern.kind == Pattern::Kind::Incast ? simulated_lead(kSpread) : 0});
    results.push_back(std::move(result));
  }
  return results;
}

TEST_CASE("measured cluster: times by the cost model give its own links back") {
  const auto fitted = fit_cluster(modelled(), kNodes, 2);
  CHECK(fitted.cluster.nic_bandwidth.front() == doctest::Approx(kOneWay).epsilon(1e-6));
  CHECK(fitted.cluster.nic_acknowledgements == doctest::Approx(kOneWay / kNic - 1).epsilon(1e-4));
  CHECK(static_cast<double>(fitted.cluster.nic_latency.front().count()) ==
        doctest::Approx(kNicLatency * 1e9).epsilon(1e-4));
  CHECK(fitted.cluster.fabric_bandwidth == doctest::Approx(kFabric).epsilon(1e-6));
  CHECK(fitted.cluster.sharing_spread == doctest::Approx(kSpread).epsilon(0.02));
  CHECK(fitted.cluster.nic_window == doctest::Approx(kWindow).epsilon(1e-3));
  CHECK(fitted.spec["nic"]["window"] == "64kB");
  CHECK(fitted.cluster.communicator_setup == std::chrono::milliseconds(4));
  CHECK(fitted.spec["communicator"]["setup"] == "4000us");
  CHECK(fitted.spec["nic"]["bandwidth"] == "26MB/s");
  CHECK(fitted.spec["fabric"]["kind"] == "switched");
  CHECK(fitted.spec["gpus_per_node"] == 2);
}

TEST_CASE("measured cluster: the model is checked against every all-reduce, side by side too") {
  const auto fitted = fit_cluster(modelled(), kNodes, 2);
  REQUIRE(fitted.checks.size() == 5 * 4);
  for (const auto& check : fitted.checks) {
    CAPTURE(check.pattern);
    CAPTURE(check.bytes);
    CHECK(check.predicted_seconds == doctest::Approx(check.measured_seconds).epsilon(1e-3));
  }
}

TEST_CASE("measured cluster: acknowledgements explain a tenth more than the rings get, no more") {
  auto results = modelled();
  for (auto& result : results)
    if (result.pattern.kind == Pattern::Kind::Incast)
      for (auto& timing : result.timings) timing.seconds /= 4;
  const auto fitted = fit_cluster(results, kNodes, 2);
  CHECK(fitted.cluster.nic_bandwidth.front() == doctest::Approx(1.1 * kNic).epsilon(1e-6));
  CHECK(fitted.cluster.nic_acknowledgements == doctest::Approx(0.1));
  CHECK(fitted.warnings.size() == 1);
}

TEST_CASE("measured cluster: a ping that nothing holds up shows no window") {
  auto results = modelled();
  for (auto& result : results)
    if (result.pattern.kind == Pattern::Kind::Ping)
      for (auto& timing : result.timings) timing.seconds = 4 * kNicLatency;
  const auto fitted = fit_cluster(results, kNodes, 2);
  CHECK(fitted.cluster.nic_window == 0);
  CHECK_FALSE(fitted.spec["nic"].contains("window"));
}

TEST_CASE("measured cluster: more ranks than processors carry a warning and feed no fit") {
  auto results = modelled();
  CHECK(fit_cluster(results, kNodes, 2).warnings.empty());
  CHECK_THROWS_AS(static_cast<void>(fit_cluster(results, kNodes, 1)), InputError);
}

TEST_CASE("measured cluster: a single rank has no link") {
  CHECK_THROWS_AS(static_cast<void>(fit_cluster({}, {{0}}, 2)), InputError);
}

}  // namespace
}  // namespace cohort
