#include "policies/idle_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "policies/random.h"

namespace cohort {
namespace {

std::vector<WorkerId> at_least(const IdleSet& set, std::uint32_t requests) {
  std::vector<WorkerId> found;
  set.append_at_least(requests, found);
  std::ranges::sort(found);
  return found;
}

}  // namespace

TEST_CASE("idle set: holds everybody at first") {
  const IdleSet set(3);
  CHECK(at_least(set, 0) == std::vector{WorkerId{0}, WorkerId{1}, WorkerId{2}});
  CHECK(at_least(set, 1).empty());
}

TEST_CASE("idle set: agrees with a map over random inserts and erases") {
  constexpr std::uint32_t kWorkers = 20;
  IdleSet set(kWorkers);
  std::map<std::uint32_t, std::uint32_t> expected;
  for (std::uint32_t w = 0; w < kWorkers; ++w) expected[w] = 0;
  Stream stream(1, Purpose::Tie, 0, 0);
  for (int round = 0; round < 20000; ++round) {
    const auto worker = stream.below(kWorkers);
    set.erase(WorkerId{worker});
    expected.erase(worker);
    if (stream.below(3) > 0) {
      expected[worker] = stream.below(8);
      set.insert(WorkerId{worker}, expected[worker]);
    }
    const auto limit = stream.below(9);
    std::vector<WorkerId> wanted;
    for (const auto& [w, requests] : expected)
      if (requests >= limit) wanted.push_back(WorkerId{w});
    REQUIRE(at_least(set, limit) == wanted);
  }
}

}  // namespace cohort
