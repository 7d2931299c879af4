#include <doctest/doctest.h>

#include <array>

#include "policies/static_schedule.h"
#include "tests/policies/policy_bench.h"

namespace cohort {

TEST_CASE("static: the published schedule of 16 workers on 4 nodes") {
  const auto phases = published_schedule(Topology(4, 4));
  const Phase intra = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
  REQUIRE(phases.size() == 4);
  CHECK(phases[0] == Phase{{0, 4, 8, 12}, {2, 3}, {6, 7}, {10, 11}, {14, 15}});
  CHECK(phases[1] == intra);
  CHECK(phases[2] == Phase{{1, 5, 9, 13}, {0, 3}, {4, 7}, {8, 11}, {12, 15}});
  CHECK(phases[3] == intra);
}

TEST_CASE("static: a local rank that a node does not have takes no part") {
  const std::array<std::uint32_t, 3> nodes = {3, 1, 2};  // workers 0-2, 3, 4-5
  const auto phases = published_schedule(Topology(nodes));
  CHECK(phases[0] == Phase{{0, 3, 4}});
  CHECK(phases[1] == Phase{{0, 1, 2}, {4, 5}});
  CHECK(phases[2] == Phase{{1, 5}});
  CHECK(phases[3] == phases[1]);
}

TEST_CASE("static: with one worker a node everybody meets once a period and is alone otherwise") {
  const auto phases = published_schedule(Topology(3, 1));
  CHECK(phases == Phases{{{0, 1, 2}}, {}, {}, {}});
}

TEST_CASE("static: local ranks above 3 stay with those of their node") {
  const auto phases = published_schedule(Topology(2, 6));
  CHECK(phases[0] == Phase{{0, 6}, {2, 3, 4, 5}, {8, 9, 10, 11}});
  CHECK(phases[2] == Phase{{1, 7}, {0, 3, 4, 5}, {6, 9, 10, 11}});
}

TEST_CASE("static: a worker goes through the schedule by its own step number") {
  PolicyBench bench("static", {}, Topology(2, 2));
  CHECK(bench.ready(1) == "release 1");  // step 0: alone
  CHECK(bench.ready(1) == "");           // step 1: waits for 0, which is at step 0
  CHECK(bench.ready(0) == "");
  CHECK(bench.ready(2) == "start 0: 0 2");
  CHECK(bench.done(0) == "release 0; release 2");
  CHECK(bench.ready(0) == "start 1: 0 1");
}

TEST_CASE("static: workers that a given phase does not name are released") {
  Options options;
  options.set("phases", Phases{{{0, 2}}, {{1}, {0, 2}}});
  PolicyBench bench("static", options, Topology(1, 3));
  CHECK(bench.ready(1) == "release 1");
  CHECK(bench.ready(1) == "release 1");  // a group of one
  CHECK(bench.ready(2) == "");
  CHECK(bench.ready(0) == "start 0: 0 2");
}

TEST_CASE("static: a lost worker shrinks its groups, now and in later turns") {
  PolicyBench bench("static", {}, Topology(1, 4));
  for (std::uint32_t w = 0; w < 2; ++w) CHECK(bench.ready(w) == "release " + std::to_string(w));
  CHECK(bench.ready(2) == "");
  CHECK(bench.lost(3) == "release 2");
  CHECK(bench.ready(0) == "");
  CHECK(bench.ready(1) == "");
  CHECK(bench.ready(2) == "start 0: 0 1 2");
}

TEST_CASE("static: the survivors of a failed group start again under a new id") {
  Options options;
  options.set("phases", Phases{{{0, 1, 2}}});
  PolicyBench bench("static", options, Topology(1, 3));
  bench.ready(0);
  bench.ready(1);
  CHECK(bench.ready(2) == "start 0: 0 1 2");
  CHECK(bench.lost(1) == "");
  CHECK(bench.failed(0) == "start 1: 0 2");
  CHECK(bench.lost(2) == "");
  CHECK(bench.failed(1) == "release 0");
}

TEST_CASE("static: a worker that leaves lets those start that waited for it") {
  Options options;
  options.set("phases", Phases{{{0, 1, 2}}});
  PolicyBench bench("static", options, Topology(1, 3));
  bench.ready(0);
  bench.ready(2);
  CHECK(bench.left(1) == "start 0: 0 2");
}

TEST_CASE("static: phases that do not fit are refused with their place") {
  const Topology topology(2, 2);
  const auto refused = [&](Phases phases) {
    Options options;
    options.set("phases", std::move(phases));
    return refusal("static", options, topology);
  };
  CHECK(refused({{{0, 1}, {2, 3}}}) == "");
  CHECK(refused({{{0, 1}}, {{2}, {0, 3}, {3, 1}}}) == "/phases/1/2");
  CHECK(refused({{{0, 0}}}) == "/phases/0/0");
  CHECK(refused({{{0, 1}, {4}}}) == "/phases/0/1");
  CHECK(refused({{{}}}) == "/phases/0/0");
  CHECK(refused({}) == "/phases");
}

}  // namespace cohort
