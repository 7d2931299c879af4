// Training in virtual time against the bare local step: 16 workers train an MLP 784-256-10 with
// batch 32, one thread. What is more than `local_step` is the simulator's, above all its averages.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "policies/registry.h"
#include "sim/scenario.h"
#include "training/synthetic.h"
#include "training/worker_training.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

const TrainingSpec kMlp{.model = MlpOptions{{256}}, .batch = 32};

std::shared_ptr<const Dataset> images() {
  static const auto set = std::make_shared<const Dataset>(
      make_synthetic({.side = 28, .training_samples = 4096, .test_samples = 1}));
  return set;
}

void local_step(benchmark::State& state) {
  const TrainingTask task(kMlp, *images(), 1, 1);
  Trainer<float> trainer(task);
  std::vector<float> x(trainer.parameters());
  trainer.initialise(x);
  WorkerTraining<float> worker(task, WorkerId{0}, x.size());
  std::uint64_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(worker.compute(trainer, x, step));
    worker.apply(x, 32 * step++);
  }
  state.SetItemsProcessed(state.iterations());
}

// A run of 100 steps each, evaluated at its start and its end alone.
void virtual_training(benchmark::State& state, const std::string& kind, const std::string& timing) {
  Scenario scenario;
  scenario.cluster.gpus_per_node.assign(4, 4);
  scenario.cluster.nic_bandwidth.assign(4, 7e9);
  scenario.cluster.nic_latency.assign(4, 5us);
  scenario.cluster.fabric_bandwidth = 10e9;
  scenario.workload.compute = 100ms;
  scenario.workload.payload = 60e6;
  scenario.stragglers = {{.model = Lognormal{.sigma = 0.02}}};
  scenario.policy = find_policy(kind);
  Options options;
  if (!timing.empty()) options.set("timing", timing);
  scenario.options = resolve(*scenario.policy, options);
  scenario.stop.steps_per_worker = 100;
  scenario.training = std::make_shared<const TrainingPlan>(
      TrainingPlan{.training = kMlp,
                   .dataset = images(),
                   .measure = {.every = std::uint64_t{1'000'000}, .samples = 1}});
  for (auto _ : state) benchmark::DoNotOptimize(simulate(scenario));
  state.SetItemsProcessed(state.iterations() * 16 * 100);
}

BENCHMARK(local_step)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(virtual_training, all_reduce, "all-reduce", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(virtual_training, parameter_server, "parameter-server", "")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(virtual_training, d_psgd, "d-psgd", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(virtual_training, ad_psgd, "ad-psgd", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(virtual_training, static_schedule, "static", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(virtual_training, random, "random", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(virtual_training, smart, "smart", "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(virtual_training, smart_background, "smart", "background")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cohort

BENCHMARK_MAIN();
