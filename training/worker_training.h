// What one worker of a training run holds and does. The caller (simulator or rank) owns the
// parameters, decides when what happens, and averages.
//
// A step: compute(x, s) takes the gradient at x over the worker's batch of its step s; apply(y)
// then changes y. x is what the worker read when its step began, y its parameters now: the two are
// the same, unless averages came in between.
//   update_then_average: compute(x), apply(x), average x.
//   average_then_update: compute(x), average x, apply(x).
//   AD-PSGD: compute(a copy of x from the start of the step), apply(x as it is now).
//   averaging gradients, server: compute(x), move gradient(), apply the mean of them.
// Nothing allocates once the first step is done. T is float, or double for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policies/synchronisation.h"
#include "training/dataset.h"
#include "training/model.h"
#include "training/sgd.h"
#include "training/shards.h"
#include "training/training_spec.h"

namespace cohort {

// What all workers of one run share: immutable, read by all threads. The data set is the caller's
// and may be shared by many runs.
class TrainingTask {
 public:
  // Throws what check_training() and Shards do. `quadratic` ignores the data set.
  TrainingTask(TrainingSpec spec, const Dataset& dataset, std::uint32_t workers,
               std::uint64_t seed);

  [[nodiscard]] const TrainingSpec& spec() const { return spec_; }
  [[nodiscard]] const Dataset& dataset() const { return dataset_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  // None for models without data.
  [[nodiscard]] const std::optional<Shards>& shards() const { return shards_; }

 private:
  TrainingSpec spec_;
  const Dataset& dataset_;
  std::uint64_t seed_;
  std::optional<Shards> shards_;
};

// A model with the buffers of one thread; serves any number of workers.
template <typename T>
class Trainer {
 public:
  explicit Trainer(const TrainingTask& task);  // keeps the reference

  [[nodiscard]] std::size_t parameters() const { return model_->parameters(); }
  // The same for every worker of the run.
  void initialise(std::span<T> parameters) const { model_->initialise(task_.seed(), parameters); }
  // Mean loss of the worker's batch of that step at `parameters`, its gradient into `gradient`. The
  // loss is not finite when training has diverged.
  [[nodiscard]] double gradient(std::span<const T> parameters, WorkerId worker, std::uint64_t step,
                                std::span<const std::uint32_t> samples, std::span<T> gradient);
  // Over all samples of a set, in their order; for models without data over one sample.
  [[nodiscard]] Evaluation evaluate(std::span<const T> parameters, const Samples& samples);
  // Over some of a set, all at once.
  [[nodiscard]] Evaluation evaluate(std::span<const T> parameters, const Samples& samples,
                                    std::span<const std::uint32_t> indices);

 private:
  const TrainingTask& task_;
  std::unique_ptr<Model<T>> model_;
  Batch<T> batch_;
  std::vector<std::uint32_t> some_samples_;
};

template <typename T>
class WorkerTraining {
 public:
  WorkerTraining(const TrainingTask& task, WorkerId worker, std::size_t parameters);

  // Steps count from 0.
  [[nodiscard]] double compute(Trainer<T>& trainer, std::span<const T> parameters,
                               std::uint64_t step);
  // That of the last compute(); may be replaced, by a mean for instance.
  [[nodiscard]] std::span<T> gradient() { return gradient_; }
  // `samples`: used so far by all workers together, for the schedule; `scale` multiplies the rate.
  void apply(std::span<T> parameters, std::uint64_t samples, double scale = 1);
  // The optimiser's state, empty without momentum.
  [[nodiscard]] std::span<T> velocity() { return sgd_.velocity(); }

 private:
  WorkerId worker_;
  std::optional<DataOrder> order_;
  Sgd<T> sgd_;
  std::vector<T> gradient_;
};

}  // namespace cohort
