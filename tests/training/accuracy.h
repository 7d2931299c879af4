// The share of test samples that a single worker gets right after some epochs.
#pragma once

#include <cstdint>
#include <vector>

#include "training/worker_training.h"

namespace cohort::test {

inline double accuracy_after(const TrainingSpec& spec, const Dataset& set, std::uint64_t epochs) {
  const TrainingTask task(spec, set, 1, 1);
  Trainer<float> trainer(task);
  std::vector<float> x(trainer.parameters());
  trainer.initialise(x);
  WorkerTraining<float> worker(task, WorkerId{0}, x.size());
  for (std::uint64_t step = 0; step < epochs * set.training.size() / spec.batch; ++step) {
    (void)worker.compute(trainer, x, step);
    worker.apply(x, step * spec.batch);
  }
  const auto result = trainer.evaluate(x, set.test);
  return static_cast<double>(result.correct) / static_cast<double>(result.samples);
}

}  // namespace cohort::test
