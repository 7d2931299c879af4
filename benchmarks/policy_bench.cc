// Each policy's step apart: the events of a recorded run are fed to a fresh policy, bare and inside
// CheckedPolicy.
//
// The counters are per worker-step of the recorded run; a worker-step is about two events (ready,
// done) of which a group shares one.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/scenarios.h"

namespace cohort {
namespace {

constexpr BenchShape kShape{4, 4};

class EventRecord final : public ActionLog {
 public:
  void record(const Event& event, const Actions&) override { events.push_back(event); }
  std::vector<Event> events;
};

void replay(benchmark::State& state, const PolicyEntry& entry, bool checked) {
  const Scenario scenario =
      bench_scenario(entry.name, kShape, {bench_slowdown(kShape), bench_jitter()}, 500);
  EventRecord record;
  SimulateOptions options;
  options.log = &record;
  const auto steps = static_cast<double>(simulate(scenario, options).worker_steps);
  const Topology topology(scenario.cluster.gpus_per_node, servers_needed(entry, scenario.options));
  Actions actions;
  for (auto _ : state) {
    auto policy = make_policy(entry, scenario.options, topology, scenario.seed);
    if (checked) policy = std::make_unique<CheckedPolicy>(std::move(policy), topology);
    for (const auto& event : record.events) {
      actions.clear();
      policy->step(event, actions);
      benchmark::DoNotOptimize(actions.all().data());
    }
  }
  state.counters["per_worker_step"] =
      benchmark::Counter(steps * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["events_per_worker_step"] = static_cast<double>(record.events.size()) / steps;
}

void register_all() {
  for (const auto& entry : all_policies()) {
    for (const bool checked : {false, true}) {
      const std::string name = entry.name + (checked ? "/checked" : "/bare");
      benchmark::RegisterBenchmark(name.c_str(), [&entry, checked](benchmark::State& state) {
        replay(state, entry, checked);
      })->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace
}  // namespace cohort

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  cohort::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
