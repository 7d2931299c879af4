#include <doctest/doctest.h>

#include "tests/policies/policy_script.h"

namespace cohort {
namespace {

const Options kBackground = option("timing", std::string("background"));

}  // namespace

TEST_CASE("background: a worker goes on with a snapshot and averages when the group is complete") {
  PolicyScript script("all-reduce", kBackground, {2});
  CHECK(script.ready(0) == "snapshot 0");
  CHECK(script.ready(1) == "snapshot 1; start 0 [0:background 1:background]");
  CHECK(script.done(0) == "");
}

TEST_CASE(
    "background: ready again while the average is pending, a worker waits without a request") {
  PolicyScript script("all-reduce", kBackground, {2});
  CHECK(script.ready(0) == "snapshot 0");
  CHECK(script.ready(0) == "");
  CHECK(script.waiting() == 1);
  CHECK(script.ready(1) == "snapshot 1; start 0 [0:background 1:background]");
  CHECK(script.done(0) == "snapshot 0");
}

TEST_CASE("background: workers that wait for a live average count as newly ready when it is done") {
  PolicyScript script("all-reduce", kBackground, {2});
  script.ready(0);
  script.ready(1);
  CHECK(script.ready(1) == "");
  CHECK(script.ready(0) == "");
  CHECK(script.done(0) == "snapshot 0; snapshot 1; start 1 [0:background 1:background]");
}

TEST_CASE("background: a lone worker is released without a snapshot") {
  PolicyScript script("all-reduce", kBackground, {1});
  CHECK(script.ready(0) == "release 0");
}

TEST_CASE("background: a pending average that nobody is left for ends silently") {
  PolicyScript script("all-reduce", kBackground, {2});
  CHECK(script.ready(0) == "snapshot 0");
  CHECK(script.left(1) == "");
  CHECK(script.ready(0) == "release 0");
}

TEST_CASE("background: a worker leaves with its average pending, and the others start without it") {
  PolicyScript script("all-reduce", kBackground, {3});
  CHECK(script.ready(0) == "snapshot 0");
  CHECK(script.left(0) == "");
  CHECK(script.ready(1) == "snapshot 1");
  CHECK(script.ready(2) == "snapshot 2; start 0 [1:background 2:background]");
}

TEST_CASE("background: survivors of a failed average start again with their snapshots") {
  PolicyScript script("all-reduce", kBackground, {3});
  script.ready(0);
  script.ready(1);
  CHECK(script.ready(2) == "snapshot 2; start 0 [0:background 1:background 2:background]");
  CHECK(script.ready(0) == "");
  CHECK(script.lost(1) == "");
  CHECK(script.failed(0) == "start 1 [0:background 2:background]");
  CHECK(script.done(1) == "snapshot 0");
}

TEST_CASE("background: a group of one in a static schedule releases plainly") {
  Options options = kBackground;
  options.set("phases", Phases{{{0, 1}}, {}});
  PolicyScript script("static", options, {2});
  CHECK(script.ready(0) == "snapshot 0");
  CHECK(script.ready(1) == "snapshot 1; start 0 [0:background 1:background]");
  CHECK(script.done(0) == "");
  CHECK(script.ready(0) == "release 0");
}

}  // namespace cohort
