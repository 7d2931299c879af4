// Every registered policy against random valid event sequences: all promises of policies/policy.h.

#include <doctest/doctest.h>

#include "policies/checked_policy.h"
#include "tests/policies/policy_variants.h"
#include "tests/policies/random_driver.h"

namespace cohort {
namespace {

using Nodes = std::vector<std::uint32_t>;

const std::vector<Nodes> kClusters = {{1}, {2}, {3}, {1, 1}, {2, 2}, {4, 4, 4, 4}, {3, 1, 2}, {5}};

RunOutcome run_checked(const Variant& variant, const Topology& topology, const RandomRun& run) {
  CheckedPolicy policy(make_variant(variant, topology, run.seed), topology);
  auto outcome = drive_randomly(policy, topology, run);
  CHECK_MESSAGE(policy.waiting() == 0, policy.stuck());
  return outcome;
}

// Runs every variant on every cluster with seeds 1 to `seeds`.
template <typename Check>
void for_all_runs(std::uint64_t seeds, RandomRun run, Check check) {
  for (const auto& nodes : kClusters) {
    for (const auto& variant : policy_variants(nodes)) {
      const auto topology = topology_of(variant, nodes);
      for (run.seed = 1; run.seed <= seeds; ++run.seed) {
        INFO(variant.label, " on ", topology.nodes(), " nodes, ", topology.workers(),
             " workers, seed ", run.seed);
        check(variant, topology, run);
      }
    }
  }
}

}  // namespace

TEST_CASE("conformance: every worker of every policy finishes its steps and no promise is broken") {
  for_all_runs(60, {.most_steps = 9},
               [](const auto& variant, const auto& topology, const auto& run) {
                 const auto outcome = run_checked(variant, topology, run);
                 CHECK_FALSE(outcome.endless);
                 REQUIRE(outcome.finished == topology.workers());
               });
}

TEST_CASE("conformance: every survivor of losses finishes its steps and no promise is broken") {
  for_all_runs(120, {.most_steps = 9, .losses = 2},
               [](const auto& variant, const auto& topology, const auto& run) {
                 const auto outcome = run_checked(variant, topology, run);
                 CHECK_FALSE(outcome.endless);
                 REQUIRE(outcome.finished + outcome.lost == topology.workers());
               });
}

TEST_CASE("conformance: P1 the same events give the same actions") {
  for_all_runs(4, {.most_steps = 6, .losses = 1},
               [](const auto& variant, const auto& topology, const auto& run) {
                 const auto first = run_checked(variant, topology, run);
                 const auto second = run_checked(variant, topology, run);
                 REQUIRE(first.history == second.history);
               });
}

TEST_CASE("conformance: every policy synchronises when there is somebody to synchronise with") {
  const Nodes nodes = {4, 4, 4, 4};
  for (const auto& variant : policy_variants(nodes)) {
    INFO(variant.label);
    const auto topology = topology_of(variant, nodes);
    CHECK(run_checked(variant, topology, {.seed = 1, .most_steps = 20}).synchronisations >= 5);
  }
}

}  // namespace cohort
