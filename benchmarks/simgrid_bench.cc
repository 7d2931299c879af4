// Cohort against SimGrid's parallel tasks, per worker-step of the same scenario in the same run;
// the bar is 15 times as fast.
//
// CPU time, so that other programs on the machine weigh on neither. Start-up, platform and trace
// are outside: SimGrid's time is that of its event loop alone, Cohort's contains the set-up of one
// simulation. The iteration time is Cohort's.
#include <benchmark/benchmark.h>

#include <ctime>
#include <string>

#include "tests/simgrid/reference.h"
#include "tests/simgrid/scenarios.h"

namespace cohort {
namespace {

constexpr Shape kSmall{4, 4}, kLarge{16, 8};

Reference& reference() {
  static Reference only({compared_cluster(kSmall), compared_cluster(kLarge)});
  return only;
}

void compare(benchmark::State& state, const std::string& policy, Shape shape) {
  const Scenario scenario = compared_scenario(policy, shape, 500);
  double theirs = 0, ours = 0, steps = 0;
  for (auto _ : state) {
    const double reference_seconds = reference().run(scenario).cpu_seconds;
    const std::clock_t begin = std::clock();
    const ResultRow row = simulate(scenario);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    state.SetIterationTime(seconds);
    theirs += reference_seconds;
    ours += seconds;
    steps += static_cast<double>(row.worker_steps);
  }
  state.counters["us_per_worker_step"] = ours / steps * 1e6;
  state.counters["simgrid_us_per_worker_step"] = theirs / steps * 1e6;
  state.counters["times_faster"] = theirs / ours;
}
BENCHMARK_CAPTURE(compare, all_reduce_4x4, "all-reduce", kSmall)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, static_4x4, "static", kSmall)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, smart_4x4, "smart", kSmall)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, contended_4x4, "contended", kSmall)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, all_reduce_16x8, "all-reduce", kLarge)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, static_16x8, "static", kLarge)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, smart_16x8, "smart", kLarge)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, contended_16x8, "contended", kLarge)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cohort

BENCHMARK_MAIN();
