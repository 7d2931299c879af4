// The event queue apart: one pop and one schedule at a steady number of pending events, as a
// simulation of that many workers does.
#include <benchmark/benchmark.h>

#include <vector>

#include "policies/random.h"
#include "sim/event_queue.h"

namespace cohort {
namespace {

void pop_and_schedule(benchmark::State& state) {
  const auto slots = static_cast<std::uint32_t>(state.range(0));
  Stream random(1, Purpose::Tie, 0, 0);
  std::vector<std::uint32_t> drawn(1 << 16);
  for (auto& value : drawn) value = random.next_u32();
  EventQueue queue;
  queue.grow(slots);
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    queue.schedule(Slot{slot}, Time{drawn[slot & 0xFFFF] % 100'000'000}, slot);
  std::uint32_t i = 0;
  for (auto _ : state) {
    const auto [at, slot] = queue.pop();
    const std::uint32_t value = drawn[++i & 0xFFFF];
    queue.schedule(slot, at + Time{100'000'000 + value % 4'000'000}, value);
  }
}
BENCHMARK(pop_and_schedule)->Arg(16)->Arg(1'000)->Arg(100'000);

void move_pending(benchmark::State& state) {
  const auto slots = static_cast<std::uint32_t>(state.range(0));
  Stream random(1, Purpose::Tie, 0, 0);
  std::vector<std::uint32_t> drawn(1 << 16);
  for (auto& value : drawn) value = random.next_u32();
  EventQueue queue;
  queue.grow(slots);
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    queue.schedule(Slot{slot}, Time{drawn[slot & 0xFFFF]}, slot);
  std::uint32_t i = 0;
  for (auto _ : state) {
    const std::uint32_t value = drawn[++i & 0xFFFF];
    queue.schedule(Slot{value % slots}, Time{drawn[value & 0xFFFF]}, value);
  }
}
BENCHMARK(move_pending)->Arg(16)->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace cohort

BENCHMARK_MAIN();
