#include "policies/sync_table.h"

#include <doctest/doctest.h>

#include <map>

#include "policies/random.h"

namespace cohort {

TEST_CASE("sync table: finds what was inserted and forgets what was erased") {
  SyncTable<int> table;
  table.insert(SyncId{7}, 70);
  table.insert(SyncId{23}, 230);
  table.erase(SyncId{7});
  CHECK(table.find(SyncId{7}) == nullptr);
  REQUIRE(table.find(SyncId{23}) != nullptr);
  CHECK(*table.find(SyncId{23}) == 230);
  CHECK(table.size() == 1);
}

TEST_CASE("sync table: erasing an absent id changes nothing") {
  SyncTable<int> table;
  table.insert(SyncId{1}, 1);
  table.erase(SyncId{17});
  CHECK(table.size() == 1);
  CHECK(table.find(SyncId{1}) != nullptr);
}

TEST_CASE("sync table: agrees with a map over random inserts and erases") {
  SyncTable<std::uint64_t> table;
  std::map<std::uint64_t, std::uint64_t> expected;
  Stream stream(1, Purpose::Tie, 0, 0);
  std::uint64_t next = 0;
  for (int round = 0; round < 20000; ++round) {
    if (expected.empty() || stream.below(100) < 51) {
      next += 1 + stream.below(5);
      table.insert(SyncId{next}, next * 3);
      expected[next] = next * 3;
    } else {
      const auto victim =
          std::next(expected.begin(), stream.below(static_cast<std::uint32_t>(expected.size())));
      table.erase(SyncId{victim->first});
      expected.erase(victim);
    }
  }
  CHECK(table.size() == expected.size());
  for (std::uint64_t id = 0; id <= next; ++id) {
    const auto* found = table.find(SyncId{id});
    REQUIRE((found != nullptr) == expected.contains(id));
    if (found) CHECK(*found == expected[id]);
  }
}

}  // namespace cohort
