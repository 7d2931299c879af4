#include "policies/communicator_cache.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "policies/errors.h"
#include "policies/random.h"

namespace cohort {
namespace {

std::vector<Member> members(std::initializer_list<std::uint32_t> workers) {
  std::vector<Member> list;
  for (const auto w : workers)
    list.push_back({WorkerId{w}, Role::Blocking, 1.0 / static_cast<double>(workers.size())});
  return list;
}

// Acquires and releases at once; true for a hit.
bool use(CommunicatorCache& cache, std::initializer_list<std::uint32_t> workers) {
  const auto lease = cache.acquire(members(workers));
  cache.release(lease.list);
  return lease.hit;
}

}  // namespace

TEST_CASE("communicator cache: a list is a hit from its second start on, in any order") {
  CommunicatorCache cache(4, 2);
  CHECK_FALSE(use(cache, {0, 1, 2}));
  CHECK(use(cache, {2, 0, 1}));
  CHECK_FALSE(use(cache, {0, 1}));
  CHECK_FALSE(use(cache, {0, 1, 3}));
  CHECK(cache.counts().hits == 1);
  CHECK(cache.counts().misses == 3);
}

TEST_CASE("communicator cache: the least recently started list is dropped") {
  CommunicatorCache cache(3, 2);
  use(cache, {0, 1});
  use(cache, {0, 2});
  CHECK(use(cache, {0, 1}));
  use(cache, {0, 1, 2});  // drops {0, 2}
  CHECK(cache.counts().evictions == 1);
  CHECK(use(cache, {0, 1}));
  CHECK_FALSE(use(cache, {0, 2}));
}

TEST_CASE("communicator cache: an acquire tells which list it dropped, the next one starts anew") {
  CommunicatorCache cache(3, 1);
  const auto first = cache.acquire(members({0, 1})).list;
  CHECK(cache.dropped().empty());
  cache.release(first);
  CHECK(cache.dropped().empty());
  const auto second = cache.acquire(members({1, 2})).list;
  REQUIRE(cache.dropped().size() == 1);
  CHECK(cache.dropped()[0] == first);
  cache.release(second);
  CHECK(cache.dropped().empty());
}

TEST_CASE("communicator cache: a release tells which lists it dropped") {
  CommunicatorCache cache(2, 1);
  const auto first = cache.acquire(members({0})).list;
  const auto second = cache.acquire(members({0, 1})).list;  // live beside it, one too many
  cache.release(first);
  REQUIRE(cache.dropped().size() == 1);
  CHECK(cache.dropped()[0] == first);
  cache.release(second);
  CHECK(cache.dropped().empty());
}

TEST_CASE("communicator cache: a list dropped by one member is dropped by all at once") {
  CommunicatorCache cache(5, 1);
  use(cache, {0, 1, 2});
  CHECK(cache.held(WorkerId{2}) == 1);
  use(cache, {0, 3});
  CHECK(cache.held(WorkerId{1}) == 0);
  CHECK(cache.held(WorkerId{2}) == 0);
  CHECK_FALSE(use(cache, {1, 2, 0}));
}

TEST_CASE(
    "communicator cache: a live list is never dropped, and the bound holds again at its end") {
  CommunicatorCache cache(3, 1);
  const auto live = cache.acquire(members({0, 1}));
  const auto other = cache.acquire(members({0, 2}));
  CHECK(cache.held(WorkerId{0}) == 2);
  CHECK(cache.counts().evictions == 0);
  cache.release(live.list);
  CHECK(cache.held(WorkerId{0}) == 1);
  cache.release(other.list);
  CHECK(use(cache, {0, 2}));
  CHECK_FALSE(use(cache, {0, 1}));
}

TEST_CASE("communicator cache: a start touches its list at all members") {
  CommunicatorCache cache(4, 2);
  use(cache, {0, 1});
  use(cache, {1, 2});
  use(cache, {0, 1});  // {1, 2} is now the oldest of worker 1
  use(cache, {1, 3});
  CHECK(use(cache, {0, 1}));
  CHECK_FALSE(use(cache, {1, 2}));
}

TEST_CASE("communicator cache: releasing what is not live and a capacity of 0 are refused") {
  CommunicatorCache cache(2, 1);
  const auto lease = cache.acquire(members({0, 1}));
  cache.release(lease.list);
  CHECK_THROWS_AS(cache.release(lease.list), ContractError);
  CHECK_THROWS_AS(CommunicatorCache(2, 0), ContractError);
}

namespace {

// The rule of SEMANTICS 3 written down slowly.
class SlowCache {
 public:
  using Set = std::set<std::uint32_t>;
  explicit SlowCache(std::size_t capacity) : capacity_(capacity) {}

  bool acquire(const Set& set) {
    bool hit = true;
    for (const auto w : set) {
      hit = std::erase(lru_[w], set) > 0;
      lru_[w].push_front(set);
    }
    ++live_[set];
    if (!hit) trim(set);
    return hit;
  }
  void release(const Set& set) {
    if (--live_[set] == 0) trim(set);
  }

 private:
  // Members are trimmed in descending order, as the order of trimming decides who is dropped first.
  void trim(const Set& set) {
    for (auto w = set.rbegin(); w != set.rend(); ++w) {
      auto& lists = lru_[*w];
      std::vector<Set> dropped;
      std::size_t left = lists.size();
      for (auto old = lists.rbegin(); old != lists.rend() && left > capacity_; ++old)
        if (live_[*old] == 0) {
          dropped.push_back(*old);
          --left;
        }
      for (const auto& old : dropped)
        for (const auto member : old) std::erase(lru_[member], old);
    }
  }

  std::size_t capacity_;
  std::map<std::uint32_t, std::list<Set>> lru_;
  std::map<Set, int> live_;
};

}  // namespace

TEST_CASE("communicator cache: agrees with the rule written down slowly") {
  constexpr std::uint32_t kWorkers = 7;
  CommunicatorCache cache(kWorkers, 3);
  SlowCache slow(3);
  std::vector<std::pair<CommunicatorCache::List, SlowCache::Set>> live;
  Stream stream(5, Purpose::Tie, 0, 0);
  int hits = 0;
  for (int round = 0; round < 20000; ++round) {
    if (live.size() > 2 || (!live.empty() && stream.below(2) == 0)) {
      const auto victim = live.begin() + stream.below(static_cast<std::uint32_t>(live.size()));
      cache.release(victim->first);
      slow.release(victim->second);
      live.erase(victim);
      continue;
    }
    SlowCache::Set set;
    while (set.size() < 2) set.insert(stream.below(kWorkers));
    if (stream.below(3) == 0) set.insert(stream.below(kWorkers));
    std::vector<Member> list;
    for (const auto w : set) list.push_back({WorkerId{w}, Role::Blocking, 1});
    const auto lease = cache.acquire(list);
    REQUIRE(lease.hit == slow.acquire(set));
    hits += lease.hit;
    live.emplace_back(lease.list, set);
  }
  CHECK(hits > 1000);
}

}  // namespace cohort
