#include "sim/event_queue.h"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "policies/random.h"

namespace cohort {
namespace {

std::vector<std::uint32_t> drain(EventQueue& queue) {
  std::vector<std::uint32_t> order;
  while (!queue.empty()) order.push_back(static_cast<std::uint32_t>(queue.pop().slot));
  return order;
}

}  // namespace

TEST_CASE("event queue: events come in the order of their times") {
  EventQueue queue;
  queue.grow(3);
  queue.schedule(Slot{0}, Time{30}, 0);
  queue.schedule(Slot{1}, Time{10}, 0);
  queue.schedule(Slot{2}, Time{20}, 0);
  CHECK(queue.top().at == Time{10});
  CHECK(drain(queue) == std::vector<std::uint32_t>{1, 2, 0});
}

TEST_CASE("event queue: the tie key orders one instant, the slot decides between equal keys") {
  EventQueue queue;
  queue.grow(4);
  queue.schedule(Slot{3}, Time{5}, 7);
  queue.schedule(Slot{2}, Time{5}, 7);
  queue.schedule(Slot{1}, Time{5}, 9);
  queue.schedule(Slot{0}, Time{5}, 0xFFFFFFFF);
  CHECK(drain(queue) == std::vector<std::uint32_t>{2, 3, 1, 0});
}

TEST_CASE("event queue: scheduling a pending slot moves its event, earlier or later") {
  EventQueue queue;
  queue.grow(3);
  for (std::uint32_t slot = 0; slot < 3; ++slot)
    queue.schedule(Slot{slot}, Time{10 * (slot + 1)}, 0);
  queue.schedule(Slot{2}, Time{5}, 0);
  queue.schedule(Slot{0}, Time{40}, 0);
  CHECK(queue.size() == 3);
  CHECK(drain(queue) == std::vector<std::uint32_t>{2, 1, 0});
}

TEST_CASE("event queue: a cancelled event does not come, cancelling nothing does nothing") {
  EventQueue queue;
  queue.grow(2);
  queue.schedule(Slot{0}, Time{1}, 0);
  queue.schedule(Slot{1}, Time{2}, 0);
  queue.cancel(Slot{0});
  queue.cancel(Slot{0});
  CHECK_FALSE(queue.pending(Slot{0}));
  CHECK(queue.pending(Slot{1}));
  CHECK(drain(queue) == std::vector<std::uint32_t>{1});
}

TEST_CASE("event queue: the next events are in sight, in order") {
  constexpr std::uint32_t kSlots = 1'000;
  Stream random(1, Purpose::Tie, 0, 0);
  EventQueue queue;
  queue.grow(kSlots);
  for (std::uint32_t slot = 0; slot < kSlots; ++slot)
    queue.schedule(Slot{slot}, Time{random.below(1'000'000)}, random.next_u32());
  std::vector<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < EventQueue::kInSight; ++i)
    seen.push_back(static_cast<std::uint32_t>(queue.peek(i).value()));
  std::vector<std::uint32_t> order = drain(queue);
  order.resize(EventQueue::kInSight);
  CHECK(seen == order);
  CHECK_FALSE(queue.peek(0).has_value());
}

namespace {

// Steps of schedule, move, cancel and pop, at times below `range` and with tie keys below `ties`,
// beside a sorted list.
void compare_with_sorted_list(std::uint32_t slots, std::uint32_t range, std::uint32_t ties) {
  Stream random(1, Purpose::Tie, 0, 0);
  EventQueue queue;
  queue.grow(slots);
  using Key = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;  // time, tie, slot
  std::set<Key> expected;
  std::vector<std::optional<Key>> pending(slots);
  const auto forget = [&](std::uint32_t slot) {
    if (pending[slot]) expected.erase(*pending[slot]);
    pending[slot].reset();
  };
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t slot = random.below(slots);
    const std::uint32_t what = random.below(4);
    if (what == 0) {
      queue.cancel(Slot{slot});
      forget(slot);
    } else if (what == 1 && !queue.empty()) {
      const auto entry = queue.pop();
      const auto popped = static_cast<std::uint32_t>(entry.slot);
      CHECK(pending[popped] == *expected.begin());
      CHECK(entry.at.count() == std::get<0>(*expected.begin()));
      forget(popped);
    } else {
      const std::uint32_t at = random.below(range), tie = random.below(ties);
      queue.schedule(Slot{slot}, Time{at}, tie);
      forget(slot);
      pending[slot] = {at, tie, slot};
      expected.insert(*pending[slot]);
    }
    REQUIRE(queue.size() == expected.size());
  }
}

}  // namespace

TEST_CASE("event queue: one slot that comes again and again") {
  EventQueue queue;
  queue.grow(1);
  for (std::int64_t at = 0; at < 1'000; ++at) {
    queue.schedule(Slot{0}, Time{at}, 0);
    REQUIRE(queue.size() == 1);
    REQUIRE(queue.pop().at == Time{at});
    REQUIRE(queue.empty());
  }
}

TEST_CASE("event queue: any mix of schedule, move and cancel agrees with a sorted list") {
  SUBCASE("few events, close together") { compare_with_sorted_list(200, 50, 4); }
  SUBCASE("many events, far apart") { compare_with_sorted_list(3'000, 1U << 31, 4); }
  SUBCASE("many events of one instant") { compare_with_sorted_list(3'000, 1, 1U << 31); }
}

}  // namespace cohort
