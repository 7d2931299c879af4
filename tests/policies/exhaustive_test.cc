// No order of events leads any policy into a deadlock, a conflict or the starvation of a worker.
//
// Background averages, losses and timers multiply the states, so they are searched with fewer steps
// or workers.

#include <doctest/doctest.h>

#include "tests/policies/exhaustive_search.h"
#include "tests/policies/policy_variants.h"
#include "tests/policies/wrong_policies.h"
#include "tests/skip.h"

namespace cohort {
namespace {

#ifdef COHORT_STALE_BYTES
constexpr bool kStaleBytes = true;
#else
constexpr bool kStaleBytes = false;
#endif
// Of the largest searches, where the compiler cannot keep stale bytes out of the states.
constexpr const char* kTooMany = "this compiler's sanitizers multiply the states; ./check runs it";

using Nodes = std::vector<std::uint32_t>;

bool in_background(const Variant& variant) {
  return variant.label.find("background") != std::string::npos;
}
bool is_async_server(const Variant& variant) {
  return variant.label.find("async") != std::string::npos;
}
bool updates_by_timers(const Variant& variant) {
  return is_async_server(variant) && variant.label.find("update_time") != std::string::npos;
}
// Threshold 1 cuts S to few workers, so that the groups of a division differ with every order of
// requests.
bool divides_finely(const Variant& variant) { return variant.label == "smart threshold=1"; }
bool is_large(const Variant& variant) {
  return in_background(variant) || updates_by_timers(variant) || divides_finely(variant);
}

template <typename Choose>
void search_all(const Nodes& nodes, const SearchOptions& options, Choose choose) {
  for (const auto& variant : policy_variants(nodes)) {
    if (!choose(variant)) continue;
    const auto topology = topology_of(variant, nodes);
    const auto result =
        search_exhaustively([&] { return make_variant(variant, topology, 1); }, topology, options);
    INFO(variant.label, ": ", result.states, " states; ", result.first_trouble);
    CHECK(result.complete);
    CHECK(result.conflicts == 0);
    CHECK(result.deadlocks == 0);
    CHECK(result.starvations == 0);
    CHECK(result.finished > 0);
  }
}

}  // namespace

TEST_CASE("exhaustive: 4 workers on 2x2 and 3 steps, every policy") {
  if (kStaleBytes) return skip(kTooMany);
  search_all({2, 2}, {.steps = 3}, [](const auto& variant) { return !is_large(variant); });
}

TEST_CASE("exhaustive: 4 workers on other nodes and 3 steps") {
  for (const auto& nodes : {Nodes{4}, Nodes{3, 1}, Nodes{1, 1, 1, 1}})
    search_all(nodes, {.steps = 3}, [](const auto& variant) {
      return !in_background(variant) &&
             (variant.label == "static" || variant.label == "smart" || variant.label == "random");
    });
}

TEST_CASE("exhaustive: 4 workers and 5 steps, where the state space allows") {
  search_all({2, 2}, {.steps = 5}, [](const auto& variant) {
    const auto& kind = variant.entry->name;
    return !in_background(variant) && !is_async_server(variant) &&
           (kind == "all-reduce" || kind == "parameter-server" || kind == "d-psgd" ||
            kind == "ad-psgd" || variant.label == "random" || variant.label == "static");
  });
}

TEST_CASE("exhaustive: 4 workers and 1 step, of the policies with many states") {
  search_all({2, 2}, {.steps = 1}, [](const auto& variant) { return is_large(variant); });
}

TEST_CASE("exhaustive: 3 workers and 2 steps, of the policies with many states") {
  search_all({2, 1}, {.steps = 2}, [](const auto& variant) { return is_large(variant); });
}

TEST_CASE("exhaustive: 4 workers and 2 steps, smart with threshold 1") {
  search_all({2, 2}, {.steps = 2}, divides_finely);
}

TEST_CASE("exhaustive: 4 workers and 3 steps in the background, where the state space allows") {
  if (kStaleBytes) return skip(kTooMany);
  search_all({2, 2}, {.steps = 3}, [](const auto& variant) {
    return variant.label == "all-reduce timing=background" ||
           variant.label == "random timing=background" ||
           variant.label == "ad-psgd active=background" ||
           variant.label == "ad-psgd active=background passive=blocks";
  });
}

TEST_CASE("exhaustive: 4 workers and 1 step, one of which is lost at any time") {
  search_all({2, 2}, {.steps = 1, .losses = 1}, [](const auto&) { return true; });
}

TEST_CASE("exhaustive: 3 workers and 2 steps, one of which is lost at any time") {
  search_all({2, 1}, {.steps = 2, .losses = 1}, [](const auto&) { return true; });
}

TEST_CASE("exhaustive: the search finds the deadlock of workers that lock in orders of their own") {
  const auto result = search_exhaustively(pairs_in_own_order, Topology(1, 3));
  CHECK(result.deadlocks > 0);
  CHECK(result.conflicts == 0);
  CHECK(result.first_trouble.starts_with("deadlock"));
}

TEST_CASE("exhaustive: the search finds the conflict of pairs without locks") {
  const auto result =
      search_exhaustively([] { return pairs_without_locks(4); }, Topology(2, 2), {.steps = 2});
  CHECK(result.conflicts > 0);
  CHECK(result.first_trouble.starts_with("conflict"));
}

TEST_CASE("exhaustive: the search finds the starvation of the worker without a partner") {
  const auto result =
      search_exhaustively([] { return pairs_for_ever(4); }, Topology(2, 2), {.steps = 2});
  CHECK(result.starvations > 0);
  CHECK(result.finished > 0);
  CHECK(result.conflicts == 0);
  CHECK(result.deadlocks == 0);
}

}  // namespace cohort
