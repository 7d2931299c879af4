// The fair-share solver and the planner of transfers, apart from the simulator.
#include <benchmark/benchmark.h>

#include <vector>

#include "sim/fair_share.h"

namespace cohort {
namespace {

// A network of `links` equal links.
void add_links(FairShare& share, std::int64_t links) {
  share.reserve_links(static_cast<std::size_t>(links));
  for (std::int64_t i = 0; i < links; ++i) share.add_link(5e9);
}

// An activity that crosses `count` neighbouring links once each.
std::vector<Load> crossing(std::int64_t first, std::int64_t count) {
  std::vector<Load> loads;
  for (std::int64_t i = first; i < first + count; ++i) {
    loads.push_back({LinkIndex{static_cast<std::uint32_t>(i)}, 1});
  }
  return loads;
}

// Add, solve and remove one activity that shares nothing, on `range(0)` links.
void lone_activity(benchmark::State& state) {
  FairShare share;
  add_links(share, state.range(0));
  const auto loads = crossing(0, state.range(0));
  for (auto _ : state) {
    const auto activity = share.add(loads);
    benchmark::DoNotOptimize(share.solve().data());
    share.remove(activity);
    benchmark::DoNotOptimize(share.solve().data());
  }
}
BENCHMARK(lone_activity)->Arg(8)->Arg(12)->Arg(50'000);

// The same, beside `range(0)` activities of 8 loads that all share one of its links.
void shared_activity(benchmark::State& state) {
  FairShare share;
  add_links(share, 1 + 8 * (state.range(0) + 1));
  const auto loads_of = [](std::int64_t which) {
    auto loads = crossing(1 + 7 * which, 7);
    loads.push_back({LinkIndex{0}, 1});
    return loads;
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) share.add(loads_of(i));
  const auto loads = loads_of(state.range(0));
  for (auto _ : state) {
    const auto activity = share.add(loads);
    benchmark::DoNotOptimize(share.solve().data());
    share.remove(activity);
    benchmark::DoNotOptimize(share.solve().data());
  }
}
BENCHMARK(shared_activity)->Arg(1)->Arg(3)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace cohort

BENCHMARK_MAIN();
