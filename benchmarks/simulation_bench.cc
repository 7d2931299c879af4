// Whole simulations, CheckedPolicy on: time per worker-step at 16 workers, time and memory per
// worker at 100,000.
//
// Bars: 0.2 us per worker-step for smart at 16 workers; 0.6 us and 300 bytes per worker at 100,000.
// The compute factors of a hand-made cluster stay empty (all 1), so memory is what the simulator
// itself needs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "benchmarks/memory.h"
#include "benchmarks/scenarios.h"

namespace cohort {
namespace {

constexpr BenchShape kSmall{4, 4}, kHuge{25'000, 4};

void run(benchmark::State& state, const Scenario& scenario) {
  std::uint64_t steps = 0;
  double conflicts = 0;
  for (auto _ : state) {
    const ResultRow row = simulate(scenario);
    steps += row.worker_steps;
    conflicts += static_cast<double>(row.conflicts);
  }
  state.counters["per_worker_step"] = benchmark::Counter(
      static_cast<double>(steps), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["conflicts_per_worker_step"] = conflicts / static_cast<double>(steps);
}

void sixteen(benchmark::State& state, const std::string& policy, bool jitter) {
  std::vector<StragglerSpec> stragglers = {bench_slowdown(kSmall)};
  if (jitter) stragglers.push_back(bench_jitter());
  run(state, bench_scenario(policy, kSmall, stragglers, 2'000));
}
BENCHMARK_CAPTURE(sixteen, smart, "smart", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sixteen, smart_jitter, "smart", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sixteen, static, "static", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sixteen, all_reduce, "all-reduce", true)->Unit(benchmark::kMillisecond);

void hundred_thousand(benchmark::State& state, const std::string& policy, bool jitter) {
  std::vector<StragglerSpec> stragglers = {bench_slowdown(kHuge)};
  if (jitter) stragglers.push_back(bench_jitter());
  const Scenario scenario = bench_scenario(policy, kHuge, stragglers, 10);
  reset_peak_bytes();
  const auto before = live_bytes();
  run(state, scenario);
  state.counters["bytes_per_worker"] = static_cast<double>(peak_bytes() - before) / 1e5;
}
BENCHMARK_CAPTURE(hundred_thousand, smart, "smart", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hundred_thousand, smart_jitter, "smart", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hundred_thousand, all_reduce, "all-reduce", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hundred_thousand, all_reduce_jitter, "all-reduce", true)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cohort

BENCHMARK_MAIN();
