#include "runtime/measurement.h"

#include <doctest/doctest.h>

#include <future>

#include "tests/runtime/thread_transport.h"

namespace cohort {
namespace {

using Nodes = std::vector<std::vector<std::uint32_t>>;

const Pattern& named(const std::vector<Pattern>& all, const std::string& name) {
  for (const auto& pattern : all)
    if (pattern.name == name) return pattern;
  FAIL("no pattern " << name);
  return all.front();
}

TEST_CASE("measurement: the patterns of two nodes of two") {
  const auto all = patterns({{0, 1}, {2, 3}});
  CHECK(named(all, "inside a node").groups == Nodes{{0, 1}});
  CHECK(named(all, "inside every node at once").groups == Nodes{{0, 1}, {2, 3}});
  CHECK(named(all, "across nodes").groups == Nodes{{0, 2}});
  CHECK(named(all, "across nodes, side by side").groups == Nodes{{0, 2}, {1, 3}});
  CHECK(named(all, "pair across nodes").groups == Nodes{{0, 2}});
  CHECK(named(all, "to one rank at once").groups == Nodes{{0, 2, 3}});
  CHECK(named(all, "everybody").groups == Nodes{{0, 1, 2, 3}});
  for (const auto& pattern : all) CHECK(pattern.kind != Pattern::Kind::Ping);
}

TEST_CASE("measurement: a ping runs beside what comes from two hosts at least") {
  CHECK(named(patterns({{0}, {1}, {2}, {3}}), "ping while others send to one rank").groups ==
        Nodes{{0, 1, 2, 3}});
  CHECK(named(patterns({{0, 1}, {2, 3}, {4, 5}}), "ping while others send to one rank").groups ==
        Nodes{{0, 2, 4, 3, 5}});
}

TEST_CASE("measurement: one node has no patterns across, one rank has none") {
  for (const auto& pattern : patterns({{0, 1, 2}}))
    CHECK(pattern.name.find("across") == std::string::npos);
  CHECK(patterns({{0}}).empty());
}

TEST_CASE("measurement: all ranks get the same times, of every size of every pattern") {
  const Nodes nodes{{0, 1}, {2, 3}, {4}, {5}};
  const MeasurementOptions options{.bytes = {4, 4'096}, .least_repeats = 2, .most_repeats = 2};
  ThreadFabric fabric({});
  std::vector<std::future<std::vector<PatternResult>>> ranks;
  for (std::uint32_t rank = 0; rank < 6; ++rank)
    ranks.push_back(std::async(std::launch::async, [&, rank] {
      ThreadBackend backend(fabric, rank);
      return measure(backend, rank, 6, patterns(nodes), options);
    }));
  std::vector<std::vector<PatternResult>> results;
  for (auto& rank : ranks) results.push_back(rank.get());
  REQUIRE(results[0].size() == patterns(nodes).size());
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    REQUIRE(results[0][i].timings.size() == 2);
    for (std::size_t size = 0; size < 2; ++size) {
      const auto& timing = results[0][i].timings[size];
      CHECK(timing.bytes == options.bytes[size]);
      CHECK(timing.repeats == 2);
      CHECK(timing.seconds > 0);
      for (const auto& other : results) CHECK(other[i].timings[size].seconds == timing.seconds);
    }
  }
}

}  // namespace
}  // namespace cohort
