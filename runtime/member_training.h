// What a member of a run with training holds beside its replica: the task, a model with its
// buffers, the copies for the learning curve, and two counts.
//
// Made by the sync thread for one run. Its compute thread trains with it (runtime/training_step.h),
// a server's sync thread updates a shard (runtime/training_optimiser.h); when both have stopped,
// the curve is evaluated with it (runtime/curve_evaluation.h), on the host.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/curve_copies.h"
#include "runtime/replica.h"
#include "training/trainer_threads.h"
#include "training/training_plan.h"

namespace cohort {

class MemberTraining {
 public:
  // Fills the replica with the model's initial parameters, of a server its shard. Throws
  // EnvironmentError when the run's entries are too few for the plan's model: this rank read
  // another spec than the group generator.
  MemberTraining(std::shared_ptr<const TrainingPlan> plan, Replica& replica);

  [[nodiscard]] const TrainingPlan& plan() const { return *plan_; }
  [[nodiscard]] const TrainingTask& task() const { return task_; }
  // A model with its buffers, for whoever trains; `threads` for who evaluates: one at a time.
  [[nodiscard]] Trainer<float>& trainer() { return trainer_; }
  [[nodiscard]] TrainerThreads<float>& threads() { return threads_; }
  [[nodiscard]] std::size_t parameters() const { return trainer_.parameters(); }
  // Of a server: which of the model's parameters are in its shard. Of a worker: all.
  [[nodiscard]] std::size_t first() const { return first_; }
  [[nodiscard]] std::size_t held() const { return held_; }
  // Of all workers, when this many steps have been done.
  [[nodiscard]] std::uint64_t samples(std::uint64_t worker_steps) const {
    return worker_steps * plan_->training.batch;
  }
  [[nodiscard]] CurveCopies& copies() { return copies_; }

  // A gradient was applied to parameters that others had changed so often since it read them.
  void count_gradient(std::uint64_t changes) {
    ++gradients_;
    changes_ += changes;
  }
  [[nodiscard]] std::uint64_t gradients() const { return gradients_; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

 private:
  void initialise(Replica& replica);

  std::shared_ptr<const TrainingPlan> plan_;
  TrainingTask task_;
  Trainer<float> trainer_;
  TrainerThreads<float> threads_;
  std::size_t first_ = 0;
  std::size_t held_ = 0;
  CurveCopies copies_;
  std::uint64_t gradients_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace cohort
