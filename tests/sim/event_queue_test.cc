#include "sim/event_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
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

TEST_CASE("event queue: any mix of schedule, move and cancel agrees with a sorted list") {
  constexpr std::uint32_t kSlots = 200;
  Stream random(1, Purpose::Tie, 0, 0);
  EventQueue queue;
  queue.grow(kSlots);
  using Key = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;  // time, tie, slot
  std::vector<Key> expected;
  const auto forget = [&](std::uint32_t slot) {
    std::erase_if(expected, [&](const Key& key) { return std::get<2>(key) == slot; });
  };
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t slot = random.below(kSlots);
    const std::uint32_t what = random.below(4);
    if (what == 0) {
      queue.cancel(Slot{slot});
      forget(slot);
    } else if (what == 1 && !queue.empty()) {
      const auto first = std::ranges::min_element(expected);
      const auto entry = queue.pop();
      CHECK(entry.at.count() == std::get<0>(*first));
      CHECK(static_cast<std::uint32_t>(entry.slot) == std::get<2>(*first));
      expected.erase(first);
    } else {
      const std::uint32_t at = random.below(50), tie = random.below(4);
      queue.schedule(Slot{slot}, Time{at}, tie);
      forget(slot);
      expected.emplace_back(at, tie, slot);
    }
    REQUIRE(queue.size() == expected.size());
  }
}

}  // namespace cohort
