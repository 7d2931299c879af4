#include "policies/ad_psgd.h"

#include <doctest/doctest.h>

#include <set>

#include "policies/errors.h"
#include "tests/policies/policy_script.h"

namespace cohort {
namespace {

std::string place_of_ad_psgd_refusal(const Options& given) {
  return place_of_refusal("ad-psgd", given, Topology(1, 4));
}

const Options kBlocks = option("passive", std::string("blocks"));
const Options kExclusive = option("exclusive_all", true);

}  // namespace

TEST_CASE("ad-psgd: an active worker waits for its pair mean, the passive one computes on") {
  PolicyScript script("ad-psgd", {}, {2});
  CHECK(script.ready(1) == "release 1");
  CHECK(script.ready(0) == "start 0 [0 1:passive]");
  CHECK(script.members()[0].weight == 0.5);
  CHECK(script.members()[1].weight == 0.5);
  CHECK(script.ready(1) == "release 1");
  CHECK(script.done(0) == "release 0");
}

TEST_CASE("ad-psgd: requests queue first come, first served at a passive worker") {
  PolicyScript script("ad-psgd", option("graph", Phases{{{0, 1}, {1, 2}, {1, 4}}}), {5});
  CHECK(script.ready(2) == "start 0 [2 1:passive]");
  CHECK(script.ready(4) == "");
  CHECK(script.ready(0) == "");
  CHECK(script.done(0) == "release 2; start 1 [4 1:passive]");
  CHECK(script.done(1) == "release 4; start 2 [0 1:passive]");
}

TEST_CASE("ad-psgd: with an odd number of workers the last is active") {
  PolicyScript script("ad-psgd", {}, {3});
  CHECK(script.ready(2) == "start 0 [2 1:passive]");
}

TEST_CASE("ad-psgd: on a ring an active worker asks its two neighbours only") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    PolicyScript script("ad-psgd", option("graph", std::string("ring")), {8}, seed);
    script.ready(4);
    const auto asked = index(script.members().at(1).worker);
    CHECK((asked == 3 || asked == 5));
  }
}

TEST_CASE("ad-psgd: every passive worker is asked by somebody") {
  std::set<std::uint32_t> asked;
  PolicyScript script("ad-psgd", {}, {8});
  for (std::uint64_t step = 0; step < 40; ++step) {
    script.ready(0);
    asked.insert(index(script.members().at(1).worker));
    script.done(step);
  }
  CHECK(asked == std::set<std::uint32_t>{1, 3, 5, 7});
}

TEST_CASE("ad-psgd: a passive worker that left serves on") {
  PolicyScript script("ad-psgd", {}, {2});
  script.ready(1);
  CHECK(script.left(1) == "");
  CHECK(script.ready(0) == "start 0 [0 1:passive]");
}

TEST_CASE("ad-psgd: without a live passive worker an active one is released") {
  PolicyScript script("ad-psgd", {}, {2});
  CHECK(script.lost(1) == "");
  CHECK(script.ready(0) == "release 0");
}

TEST_CASE("ad-psgd: n=1 changes nothing") {
  PolicyScript script("ad-psgd", {}, {1});
  CHECK(script.ready(0) == "release 0");
}

TEST_CASE("ad-psgd: requests at a lost passive worker choose again") {
  PolicyScript script("ad-psgd", {}, {3});
  CHECK(script.ready(0) == "start 0 [0 1:passive]");
  CHECK(script.ready(2) == "");
  CHECK(script.lost(1) == "release 2");  // there is no other passive worker
  CHECK(script.failed(0) == "release 0");
}

TEST_CASE("ad-psgd: a passive worker whose partner is lost serves the next") {
  PolicyScript script("ad-psgd", {}, {3});
  CHECK(script.ready(0) == "start 0 [0 1:passive]");
  CHECK(script.ready(2) == "");
  CHECK(script.lost(0) == "");
  CHECK(script.failed(0) == "start 1 [2 1:passive]");
}

TEST_CASE("ad-psgd: a lost active worker's request is forgotten") {
  PolicyScript script("ad-psgd", {}, {3});
  CHECK(script.ready(0) == "start 0 [0 1:passive]");
  CHECK(script.ready(2) == "");
  CHECK(script.lost(2) == "");
  CHECK(script.done(0) == "release 0");
}

TEST_CASE("ad-psgd: a passive worker that blocks serves at its sync point all that queue there") {
  PolicyScript script("ad-psgd", kBlocks, {3});
  CHECK(script.ready(2) == "");
  CHECK(script.ready(0) == "");
  CHECK(script.ready(1) == "start 0 [2 1:passive]");
  CHECK(script.done(0) == "release 2; start 1 [0 1:passive]");
  CHECK(script.ready(2) == "");  // came after the sync point: waits for the next one
  CHECK(script.done(1) == "release 0; release 1");
  CHECK(script.ready(1) == "start 2 [2 1:passive]");
}

TEST_CASE("ad-psgd: a passive worker that blocks is released at once when nobody queues") {
  PolicyScript script("ad-psgd", kBlocks, {2});
  CHECK(script.ready(1) == "release 1");
}

TEST_CASE("ad-psgd: a blocking passive worker that left serves at any time") {
  PolicyScript script("ad-psgd", kBlocks, {3});
  CHECK(script.ready(1) == "release 1");
  CHECK(script.ready(0) == "");
  CHECK(script.ready(2) == "");
  CHECK(script.left(1) == "start 0 [0 1:passive]");
  CHECK(script.done(0) == "release 0; start 1 [2 1:passive]");
}

TEST_CASE("ad-psgd: an active worker in the background goes on with a snapshot") {
  Options options = kBlocks;
  options.set("active", std::string("background"));
  PolicyScript script("ad-psgd", options, {2});
  CHECK(script.ready(0) == "snapshot 0");
  CHECK(script.ready(0) == "");  // its request is pending
  CHECK(script.ready(1) == "start 0 [0:background 1:passive]");
  CHECK(script.done(0) == "release 1; snapshot 0");
}

TEST_CASE("ad-psgd exclusive: everybody asks, and an exchange starts when both ends are free") {
  PolicyScript script("ad-psgd", kExclusive, {2});
  CHECK(script.ready(1) == "start 0 [1 0:passive]");
  CHECK(script.ready(0) == "");
  CHECK(script.done(0) == "release 1; start 1 [0 1:passive]");
  CHECK(script.ready(1) == "");
  CHECK(script.done(1) == "release 0; start 2 [1 0:passive]");
}

TEST_CASE("ad-psgd exclusive: waiting for one's own exchange does not occupy") {
  // Among many seeds there is one in which 0 and 1 ask 2, which is in an exchange, and 3 asks 0.
  bool served_while_waiting = false;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    PolicyScript script("ad-psgd", kExclusive, {4}, seed);
    if (script.ready(2) != "start 0 [2 1:passive]") continue;
    if (script.ready(0) != "") continue;
    served_while_waiting |= script.ready(3) == "start 1 [3 0:passive]";
  }
  CHECK(served_while_waiting);
}

TEST_CASE("ad-psgd exclusive: of the requests that can start the oldest does") {
  PolicyScript script("ad-psgd", kExclusive, {3});
  const auto first = script.ready(0);
  const auto partner = index(script.members().at(1).worker);
  const auto third = 3 - partner;
  CHECK(script.ready(third) == "");  // both of the others are in the exchange
  CHECK(script.ready(partner) == "");
  const auto answer = script.done(0);
  CAPTURE(answer);
  CHECK(script.members().at(0).worker == WorkerId{third});
}

TEST_CASE("ad-psgd exclusive: a request whose other end is lost chooses again") {
  bool chose_again = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    PolicyScript script("ad-psgd", kExclusive, {3}, seed);
    if (script.ready(1) != "start 0 [1 2:passive]") continue;
    if (script.ready(0) != "") continue;
    script.done(0);  // worker 0 is in an exchange with 1 or 2 now
    chose_again |= script.lost(index(script.members().at(1).worker)) == "" &&
                   script.failed(1).starts_with("start 2 [0 ");
  }
  CHECK(chose_again);
}

TEST_CASE("ad-psgd exclusive: the last worker is released") {
  PolicyScript script("ad-psgd", kExclusive, {2});
  CHECK(script.lost(1) == "");
  CHECK(script.ready(0) == "release 0");
}

TEST_CASE("ad-psgd: refuses a graph that is not bipartite") {
  CHECK(place_of_ad_psgd_refusal(option("graph", Phases{{{0, 1}, {1, 2}}})) == "accepted");
  CHECK(place_of_ad_psgd_refusal(option("graph", Phases{{{0, 1}, {1, 3}}})) == "/graph/1");
  CHECK(place_of_ad_psgd_refusal(option("graph", std::string("ring"))) == "accepted");
}

TEST_CASE("ad-psgd: refuses options that exclusive exchanges do not have") {
  Options ring = kExclusive;
  ring.set("graph", std::string("ring"));
  CHECK(place_of_ad_psgd_refusal(ring) == "/graph");
  Options blocks = kExclusive;
  blocks.set("passive", std::string("blocks"));
  CHECK(place_of_ad_psgd_refusal(blocks) == "/passive");
  CHECK(place_of_ad_psgd_refusal(kExclusive) == "accepted");
}

}  // namespace cohort
