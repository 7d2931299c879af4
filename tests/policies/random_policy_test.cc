#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include "policies/group_buffer.h"
#include "policies/group_draft.h"
#include "policies/random.h"
#include "tests/policies/policy_bench.h"

namespace cohort {
namespace {

// Something that can happen next: a worker becomes ready or a synchronisation ends.
struct Pending {
  bool is_sync = false;
  std::uint64_t id = 0;
};

Pending take_any(std::vector<Pending>& pending, Stream& stream) {
  std::swap(pending[stream.below(static_cast<std::uint32_t>(pending.size()))], pending.back());
  const auto taken = pending.back();
  pending.pop_back();
  return taken;
}

std::vector<WorkerId> sorted_members(const Actions& actions, const Action& start) {
  std::vector<WorkerId> list;
  for (const auto& member : actions.members(start)) list.push_back(member.worker);
  std::ranges::sort(list);
  return list;
}

}  // namespace

TEST_CASE("random: a million overlapping groups never stall") {
  constexpr std::uint32_t kWorkers = 16;
  const Topology topology(4, 4);
  const auto* entry = find_policy("random");
  CheckedPolicy policy(make_policy(*entry, resolve(*entry, {}), topology, 3), topology);
  std::vector<Pending> pending;
  for (std::uint32_t w = 0; w < kWorkers; ++w) pending.push_back({false, w});
  std::vector<std::uint64_t> steps(kWorkers);
  Stream stream(1, Purpose::Tie, 0, 0);
  Actions actions;
  std::uint64_t starts = 0;
  for (std::int64_t now = 0; starts < 1'000'000; ++now) {
    REQUIRE_FALSE(pending.empty());  // nothing left to happen: a stall
    const auto next = take_any(pending, stream);
    actions.clear();
    policy.step(next.is_sync
                    ? Event::done(Time{now}, SyncId{next.id}, Time{1})
                    : Event::ready(Time{now}, WorkerId(next.id), steps[next.id]++, Time{1}),
                actions);
    for (const auto& action : actions.all()) {
      const bool start = action.kind == ActionKind::Start;
      starts += start;
      pending.push_back({start, start ? index(action.sync) : index(action.worker)});
    }
  }
  CHECK(starts == 1'000'000);
}

TEST_CASE("random: every worker starts its groups in the one order of their creation") {
  constexpr std::uint32_t kWorkers = 16;
  GroupBuffer buffer(kWorkers);
  GroupDraft draft(4, std::nullopt, kWorkers, 1);
  std::vector<WorkerId> pool;
  for (std::uint32_t w = 0; w < kWorkers; ++w) pool.push_back(WorkerId{w});
  std::vector<std::deque<std::uint64_t>> expected(kWorkers);  // creation numbers, per worker
  std::vector<Pending> pending;
  for (std::uint32_t w = 0; w < kWorkers; ++w) pending.push_back({false, w});
  Stream stream(2, Purpose::Tie, 0, 0);
  Actions actions;
  std::uint64_t created = 0;
  while (created < 1'000'000) {
    REQUIRE_FALSE(pending.empty());
    const auto next = take_any(pending, stream);
    actions.clear();
    if (next.is_sync) {
      buffer.done(SyncId{next.id}, actions);
    } else {
      const auto worker = static_cast<WorkerId>(next.id);
      if (buffer.empty(worker)) {
        const auto group = draft.draw(stream, worker, pool, [](WorkerId) { return true; });
        for (const auto member : group) expected[index(member)].push_back(created);
        ++created;
        buffer.create(group);
      }
      buffer.ready(worker, actions);
    }
    for (const auto& action : actions.all()) {
      const bool start = action.kind == ActionKind::Start;
      pending.push_back({start, start ? index(action.sync) : index(action.worker)});
      if (!start) continue;
      const auto members = sorted_members(actions, action);
      REQUIRE(members.size() == 4);
      const auto number = expected[index(members.front())].front();
      for (const auto member : members) {
        REQUIRE(expected[index(member)].front() == number);
        expected[index(member)].pop_front();
      }
    }
  }
}

TEST_CASE("random: a request with a non-empty FIFO creates nothing") {
  Options options;
  options.set("group_size", std::int64_t{3});
  PolicyBench bench("random", options, Topology(1, 3));
  CHECK(bench.ready(1) == "");
  CHECK(bench.ready(0) == "");
  bench.ready(2);
  REQUIRE(bench.actions().all().size() == 1);
  const auto start = bench.actions().all()[0];
  CHECK(start.member_count == 3);
  CHECK(bench.actions().members(start)[0].worker == WorkerId{1});  // the only creator
  bench.done(0);
  CHECK(bench.actions().all().size() == 3);
  CHECK(bench.ready(0) == "");  // nobody had a second group: 0 creates and waits
}

TEST_CASE("random: lost workers are never drafted, and fewer than a group means all of them") {
  PolicyBench bench("random", {}, Topology(1, 4));
  CHECK(bench.lost(2) == "");
  CHECK(bench.ready(0) == "");
  CHECK(bench.ready(1) == "");
  bench.ready(3);
  REQUIRE(bench.actions().all().size() == 1);
  CHECK(sorted_members(bench.actions(), bench.actions().all()[0]) ==
        std::vector{WorkerId{0}, WorkerId{1}, WorkerId{3}});
}

TEST_CASE("random: the last worker goes on alone") {
  PolicyBench bench("random", {}, Topology(1, 2));
  CHECK(bench.ready(0) == "");
  CHECK(bench.left(1) == "release 0");
  CHECK(bench.ready(0) == "release 0");
}

TEST_CASE("random: groups are uniform over the others") {
  constexpr std::uint32_t kWorkers = 10;
  constexpr int kDraws = 90000;
  GroupDraft draft(3, std::nullopt, kWorkers, 1);
  std::vector<WorkerId> pool;
  for (std::uint32_t w = 0; w < kWorkers; ++w) pool.push_back(WorkerId{w});
  const auto before = pool;
  std::vector<int> drafted(kWorkers);
  for (int i = 0; i < kDraws; ++i) {
    Stream stream(1, Purpose::Policy, 4, static_cast<std::uint64_t>(i));
    const auto group = draft.draw(stream, WorkerId{4}, pool, [](WorkerId) { return true; });
    REQUIRE(group.size() == 3);
    REQUIRE(std::set(group.begin(), group.end()).size() == 3);
    for (const auto member : group) ++drafted[index(member)];
  }
  CHECK(pool == before);
  CHECK(drafted[4] == kDraws);
  // Each other worker: binomial with p = 2/9, mean 20000, standard deviation 125.
  for (std::uint32_t w = 0; w < kWorkers; ++w)
    if (w != 4) CHECK(std::abs(drafted[w] - 20000) < 625);
}

TEST_CASE("random: a vocabulary bounds the different groups") {
  constexpr std::uint32_t kWorkers = 16;
  GroupDraft draft(4, 12, kWorkers, 9);
  std::set<std::set<WorkerId>> groups;
  int alone = 0;
  for (std::uint32_t request = 0; request < 4000; ++request) {
    const WorkerId caller{request % kWorkers};
    Stream stream(9, Purpose::Policy, index(caller), request);
    const auto group = draft.draw(stream, caller, {}, [](WorkerId) { return true; });
    REQUIRE(group.front() == caller);
    if (group.size() == 1) {
      ++alone;
    } else {
      REQUIRE(group.size() == 4);
      groups.insert({group.begin(), group.end()});
    }
  }
  CHECK(groups.size() <= 12);
  CHECK(groups.size() > 6);
  CHECK(alone < 2000);
}

TEST_CASE("random: a group larger than the number of workers is refused") {
  Options options;
  options.set("group_size", std::int64_t{17});
  CHECK(refusal("random", options, Topology(4, 4)) == "/group_size");
  options.set("group_size", std::int64_t{16});
  CHECK(refusal("random", options, Topology(4, 4)) == "");
  CHECK(refusal("random", {}, Topology(1, 2)) == "");  // the default of 4: all of them
}

}  // namespace cohort
