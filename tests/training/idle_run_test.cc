#include "training/idle_run.h"

#include <doctest/doctest.h>

#include "policies/errors.h"
#include "policies/registry.h"

namespace cohort {
namespace {

class Starving final : public Policy {
 public:
  void step(const Event&, Actions&) override {}
};

}  // namespace

TEST_CASE("idle run: all-reduce starts one group of everybody in each round") {
  const Topology topology(2, 2);
  const auto* entry = find_policy("all-reduce");
  const auto policy = make_policy(*entry, resolve(*entry, {}), topology, 1);
  const auto rounds = idle_run(*policy, topology, 3);
  REQUIRE(rounds.size() == 3);
  for (const auto& round : rounds) {
    REQUIRE(round.size() == 1);
    CHECK(round.front().members.size() == 4);
  }
}

TEST_CASE("idle run: workers that were released go on while others wait for them") {
  const Topology topology(4, 4);
  const auto* entry = find_policy("random");
  const auto policy = make_policy(*entry, resolve(*entry, {}), topology, 1);
  std::size_t started = 0;
  for (const auto& round : idle_run(*policy, topology, 500)) started += round.size();
  CHECK(started > 500);
}

TEST_CASE("idle run: a policy that starves everybody is named") {
  Starving policy;
  CHECK_THROWS_AS(static_cast<void>(idle_run(policy, Topology(1, 2), 2)), ContractError);
}

}  // namespace cohort
