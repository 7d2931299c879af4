#include "policies/parameter_server.h"

#include <doctest/doctest.h>

#include "policies/errors.h"
#include "tests/policies/policy_script.h"

namespace cohort {

TEST_CASE("parameter server: pushes start at each ready, pulls when all pushes are in") {
  PolicyScript script("parameter-server", {}, {2});
  CHECK(script.ready(1) == "start 0 push [1 2:server]");
  CHECK(script.done(0) == "");
  CHECK(script.ready(0) == "start 1 push [0 2:server]");
  CHECK(script.done(1) == "start 2 pull [0 2:server]; start 3 pull [1 2:server]");
  CHECK(script.done(3) == "release 1");
  CHECK(script.ready(1) == "start 4 push [1 2:server]");
  CHECK(script.done(4) == "");
  CHECK(script.done(2) == "release 0");
}

TEST_CASE("parameter server: the worker has weight 1 and each server 0") {
  PolicyScript script("parameter-server", option("servers", std::int64_t{3}), {2});
  CHECK(script.ready(0) == "start 0 push [0 2:server 3:server 4:server]");
  CHECK(script.members()[0].weight == 1);
  for (std::size_t i = 1; i < 4; ++i) CHECK(script.members()[i].weight == 0);
}

TEST_CASE("parameter server: one update takes its time between pushes and pulls") {
  PolicyScript script("parameter-server", option("update_time", Time{5}), {2});
  script.ready(0);
  script.ready(1);
  CHECK(script.done(0) == "");
  CHECK(script.done(1) == "timer 0 at 5");
  CHECK(script.fired(0, Time{5}) == "start 2 pull [0 2:server]; start 3 pull [1 2:server]");
}

TEST_CASE("parameter server: the loss of the worker that all wait for starts the update") {
  PolicyScript script("parameter-server", {}, {3});
  script.ready(0);
  script.ready(1);
  script.ready(2);
  CHECK(script.done(0) == "");
  CHECK(script.done(1) == "");
  CHECK(script.lost(2) == "start 3 pull [0 3:server]; start 4 pull [1 3:server]");
  CHECK(script.failed(2) == "");
}

TEST_CASE("parameter server: the loss of the last worker cancels the update") {
  PolicyScript script("parameter-server", option("update_time", Time{5}), {1});
  script.ready(0);
  CHECK(script.done(0) == "timer 0 at 5");
  CHECK(script.lost(0) == "cancel 0");
}

TEST_CASE("parameter server: a worker that pulls is not counted as pushed") {
  PolicyScript script("parameter-server", {}, {2});
  script.ready(0);
  script.ready(1);
  script.done(0);
  script.done(1);
  CHECK(script.done(2) == "release 0");
  CHECK(script.ready(0) == "start 4 push [0 2:server]");
  CHECK(script.done(4) == "");
  CHECK(script.lost(1) == "start 5 pull [0 2:server]");
}

TEST_CASE("parameter server: async workers push, update and pull alone") {
  Options options = option("mode", std::string("async"));
  options.set("update_time", Time{5});
  PolicyScript script("parameter-server", options, {2});
  CHECK(script.ready(0) == "start 0 push [0 2:server]");
  CHECK(script.ready(1) == "start 1 push [1 2:server]");
  CHECK(script.done(1) == "timer 0 at 5");
  CHECK(script.done(0) == "timer 1 at 5");
  CHECK(script.fired(1, Time{5}) == "start 2 pull [0 2:server]");
  CHECK(script.lost(1) == "cancel 0");
  CHECK(script.done(2) == "release 0");
}

TEST_CASE("parameter server: the topology must have the servers that the options name") {
  const auto entry = parameter_server_entry();
  const auto resolved = resolve(entry, option("servers", std::int64_t{2}));
  CHECK(servers_needed(entry, resolved) == 2);
  CHECK_THROWS_AS((void)make_policy(entry, resolved, Topology(1, 2, 1), 1), ContractError);
}

}  // namespace cohort
