#include <doctest/doctest.h>

#include "tests/policies/policy_script.h"

namespace cohort {

TEST_CASE("all-reduce: one group of everybody starts with the last ready worker") {
  PolicyScript script("all-reduce", {}, {2, 1});
  CHECK(script.ready(2) == "");
  CHECK(script.ready(0) == "");
  CHECK(script.ready(1) == "start 0 [0 1 2]");
  for (const auto& member : script.members()) CHECK(member.weight == doctest::Approx(1.0 / 3));
  CHECK(script.done(0) == "release 0; release 1; release 2");
}

TEST_CASE("all-reduce: the worker that all wait for leaves, and the rest start") {
  PolicyScript script("all-reduce", {}, {3});
  CHECK(script.ready(0) == "");
  CHECK(script.ready(1) == "");
  CHECK(script.left(2) == "start 0 [0 1]");
}

TEST_CASE("all-reduce: the worker that all wait for is lost, and the rest start") {
  PolicyScript script("all-reduce", {}, {3});
  CHECK(script.ready(0) == "");
  CHECK(script.ready(1) == "");
  CHECK(script.lost(2) == "start 0 [0 1]");
}

TEST_CASE("all-reduce: survivors of a failed group start again under a new id") {
  PolicyScript script("all-reduce", {}, {3});
  script.ready(0);
  script.ready(1);
  CHECK(script.ready(2) == "start 0 [0 1 2]");
  CHECK(script.lost(1) == "");
  CHECK(script.failed(0) == "start 1 [0 2]");
  CHECK(script.members()[0].weight == 0.5);
  CHECK(script.done(1) == "release 0; release 2");
}

TEST_CASE("all-reduce: a lone live worker is released without a synchronisation") {
  PolicyScript script("all-reduce", {}, {2});
  CHECK(script.ready(0) == "");
  CHECK(script.lost(1) == "release 0");
  CHECK(script.ready(0) == "release 0");
}

TEST_CASE("all-reduce: n=1 changes nothing") {
  PolicyScript script("all-reduce", {}, {1});
  CHECK(script.ready(0) == "release 0");
}

}  // namespace cohort
