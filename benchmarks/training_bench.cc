// The local step of training: batch, gradient and update, one thread, one worker. What it is held
// against: benchmarks/training_against_pytorch.
#include <benchmark/benchmark.h>

#include <vector>

#include "training/synthetic.h"
#include "training/worker_training.h"

namespace cohort {
namespace {

void local_step(benchmark::State& state, const ModelOptions& model) {
  const auto set = make_synthetic({.side = 28, .training_samples = 4096, .test_samples = 1});
  const TrainingTask task({.model = model, .batch = 32}, set, 1, 1);
  Trainer<float> trainer(task);
  std::vector<float> x(trainer.parameters());
  trainer.initialise(x);
  WorkerTraining<float> worker(task, WorkerId{0}, x.size());
  std::uint64_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(worker.compute(trainer, x, step));
    worker.apply(x, 32 * step++);
  }
  state.SetItemsProcessed(state.iterations() * 32);
  state.counters["parameters"] = static_cast<double>(x.size());
}

BENCHMARK_CAPTURE(local_step, mlp_784_256_10, MlpOptions{{256}})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(local_step, cnn_8_16, CnnOptions{})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cohort

BENCHMARK_MAIN();
