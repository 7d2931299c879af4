// How good a model is, and where the points of a learning curve lie: the same in virtual time and
// in a real run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "traces/learning.h"
#include "training/trainer_threads.h"
#include "training/training_plan.h"

namespace cohort {

// Samples are taken in chunks of a fixed size, split over the threads, and the chunks are summed in
// their order: the same score whatever the number of threads. One thread calls.
template <typename T>
class Evaluator {
 public:
  // `samples` of the training set, or all of it where it has no more, a choice that depends on the
  // task's seed alone, for the loss; the whole test set for the accuracy. Keeps the references.
  Evaluator(const TrainingTask& task, std::uint32_t samples, TrainerThreads<T>& threads);

  // No accuracy for a model without data.
  [[nodiscard]] Score score(std::span<const T> parameters);
  [[nodiscard]] double loss(std::span<const T> parameters);

 private:
  [[nodiscard]] Evaluation evaluate(std::span<const T> parameters, const Samples& samples,
                                    std::span<const std::uint32_t> indices);

  const TrainingTask& task_;
  TrainerThreads<T>& threads_;
  std::vector<std::uint32_t> training_, test_;  // ascending
};

// Between two points of the learning curve, in worker-steps of all workers together or in time.
using Spacing = std::variant<std::uint64_t, Time>;

// MeasureSpec::every; without it a fiftieth of the worker-steps that the stop rule allows, or,
// where it bounds the time alone, of that: so about 50 points, fewer in a run that ends before
// either. Throws ContractError when neither is bounded.
[[nodiscard]] Spacing point_spacing(const MeasureSpec& measure,
                                    std::optional<std::uint64_t> worker_steps,
                                    std::optional<Time> seconds);

}  // namespace cohort
