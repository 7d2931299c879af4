#include "policies/d_psgd.h"

#include <doctest/doctest.h>

#include "policies/errors.h"
#include "tests/policies/policy_script.h"

namespace cohort {
namespace {

std::string place_of_d_psgd_refusal(const Options& given) {
  return place_of_refusal("d-psgd", given, Topology(1, 3));
}

void check_members(const PolicyScript& script, const std::vector<double>& weights) {
  REQUIRE(script.members().size() == weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    CHECK(script.members()[i].weight == doctest::Approx(weights[i]).epsilon(1e-12));
}

const Options kPath = option("graph", Phases{{{0, 1}, {1, 2}}});

}  // namespace

TEST_CASE("d-psgd: a mix starts when the worker and its neighbours have reported the step") {
  PolicyScript script("d-psgd", {}, {4});
  CHECK(script.ready(0) == "");
  CHECK(script.ready(1) == "");
  CHECK(script.ready(3) == "start 0 step 0 [0 1:source 3:source]");
  check_members(script, {1.0 / 3, 1.0 / 3, 1.0 / 3});
  CHECK(script.ready(2) ==
        "start 1 step 0 [2 1:source 3:source]; start 2 step 0 [1 0:source 2:source]; "
        "start 3 step 0 [3 0:source 2:source]");
}

TEST_CASE("d-psgd: a neighbourhood is at most one step ahead") {
  PolicyScript script("d-psgd", kPath, {3});
  script.ready(0);
  CHECK(script.ready(1) == "start 0 step 0 [0 1:source]");
  CHECK(script.done(0) == "release 0");
  CHECK(script.ready(0) == "");  // step 1: waits for worker 1, which waits for worker 2
  CHECK(script.ready(2) == "start 1 step 0 [2 1:source]; start 2 step 0 [1 0:source 2:source]");
  CHECK(script.done(2) == "release 1");
  CHECK(script.ready(1) == "start 3 step 1 [0 1:source]");
}

TEST_CASE("d-psgd: Metropolis-Hastings weights on a path") {
  PolicyScript script("d-psgd", kPath, {3});
  script.ready(0);
  script.ready(1);
  check_members(script, {2.0 / 3, 1.0 / 3});
}

TEST_CASE("d-psgd: on a ring of two the coinciding neighbours add up") {
  PolicyScript script("d-psgd", {}, {2});
  script.ready(0);
  CHECK(script.ready(1) == "start 0 step 0 [1 0:source]; start 1 step 0 [0 1:source]");
  check_members(script, {1.0 / 3, 2.0 / 3});
}

TEST_CASE("d-psgd: a complete graph has weights 1/n") {
  PolicyScript script("d-psgd", option("graph", std::string("complete")), {4});
  for (std::uint32_t w = 0; w < 3; ++w) CHECK(script.ready(w) == "");
  script.ready(3);
  check_members(script, {0.25, 0.25, 0.25, 0.25});
}

TEST_CASE("d-psgd: n=1 changes nothing") {
  PolicyScript script("d-psgd", {}, {1});
  CHECK(script.ready(0) == "release 0");
}

TEST_CASE("d-psgd: a lost neighbour's weight goes to the reader") {
  PolicyScript script("d-psgd", {}, {3});
  script.ready(0);
  script.ready(1);
  CHECK(script.lost(2) == "start 0 step 0 [0 1:source]; start 1 step 0 [1 0:source]");
  check_members(script, {2.0 / 3, 1.0 / 3});
}

TEST_CASE("d-psgd: a mix whose source is lost starts again without it") {
  PolicyScript script("d-psgd", kPath, {3});
  script.ready(2);
  script.ready(0);
  CHECK(script.ready(1) ==
        "start 0 step 0 [1 0:source 2:source]; start 1 step 0 [0 1:source]; start 2 step 0 [2 "
        "1:source]");
  CHECK(script.lost(0) == "");
  CHECK(script.failed(0) == "start 3 step 0 [1 2:source]");
  CHECK(script.failed(1) == "");
}

TEST_CASE("d-psgd: a worker that left is still read at the steps that it reported") {
  PolicyScript script("d-psgd", kPath, {3});
  script.ready(0);
  CHECK(script.ready(1) == "start 0 step 0 [0 1:source]");
  script.done(0);
  CHECK(script.left(0) == "");
  CHECK(script.ready(2) == "start 1 step 0 [2 1:source]; start 2 step 0 [1 0:source 2:source]");
  script.done(1);
  script.done(2);
  script.ready(2);
  CHECK(script.ready(1) == "start 3 step 1 [1 2:source]; start 4 step 1 [2 1:source]");
}

TEST_CASE("d-psgd: a worker whose neighbours are all gone is released") {
  PolicyScript script("d-psgd", {}, {2});
  CHECK(script.ready(0) == "");
  CHECK(script.lost(1) == "release 0");
}

TEST_CASE(
    "d-psgd: given weights are used, and a neighbour of weight 0 is waited for but not read") {
  Options options = kPath;
  options.set("weights", Matrix{{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 0, 1}});
  PolicyScript script("d-psgd", options, {3});
  script.ready(0);
  CHECK(script.ready(1) == "start 0 step 0 [0 1:source]");
  CHECK(script.ready(2) == "release 2; start 1 step 0 [1 0:source]");
  check_members(script, {0.5, 0.5});
}

TEST_CASE("d-psgd: refuses edges that are none") {
  CHECK(place_of_d_psgd_refusal(kPath) == "accepted");
  CHECK(place_of_d_psgd_refusal(option("graph", Phases{{{0, 1, 2}}})) == "/graph/0");
  CHECK(place_of_d_psgd_refusal(option("graph", Phases{{{0, 1}, {1, 3}}})) == "/graph/1");
  CHECK(place_of_d_psgd_refusal(option("graph", Phases{{{0, 1}, {2, 2}}})) == "/graph/1");
  CHECK(place_of_d_psgd_refusal(option("graph", Phases{{{0, 1}, {1, 0}}})) == "/graph");
}

TEST_CASE("d-psgd: refuses weights that are no doubly stochastic matrix on the graph") {
  const auto refusal = [](const Matrix& weights) {
    Options options = kPath;
    options.set("weights", weights);
    return place_of_d_psgd_refusal(options);
  };
  CHECK(refusal({{0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}) == "accepted");
  CHECK(refusal({{1, 0}, {0, 1}}) == "/weights");
  CHECK(refusal({{0.5, 0.5, 0}, {0.5, 0.5}, {0, 0, 1}}) == "/weights/1");
  CHECK(refusal({{0.5, 0.5, 0}, {0.5, 0.6, 0}, {0, 0, 1}}) == "/weights/1");
  CHECK(refusal({{0.5, 0, 0.5}, {0, 1, 0}, {0.5, 0, 0.5}}) == "/weights/0/2");
  CHECK(refusal({{1.5, -0.5, 0}, {-0.5, 1.5, 0}, {0, 0, 1}}) == "/weights/0/0");
  CHECK(refusal({{0.5, 0.5, 0}, {0, 1, 0}, {0, 0, 1}}) == "/weights");
}

}  // namespace cohort
