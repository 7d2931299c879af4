// The learning curve of a run in virtual time: when its points are due, and what they show.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/scenario.h"
#include "training/evaluation.h"
#include "training/shared_rows.h"

namespace cohort {

template <typename T>
class LearningCurve {
 public:
  // What there is to evaluate, and when.
  struct Models {
    std::vector<const RowNumbers<T>*>
        replicas{};                 // of the workers that are not lost, in their order
    std::span<const T> server{};    // its parameters, where there is one
    bool first_lost = false;        // worker 0 is none of them
    std::uint64_t samples = 0;      // used so far
    std::uint32_t last_worker = 0;  // whose gradient was used last
    std::uint64_t last_step = 0;    // of which of its steps
  };

  // Keeps the references.
  LearningCurve(const Scenario& scenario, const TrainingTask& task, TrainerThreads<T>& threads);

  // Whether points lie between `now` and `next`, the next one excluded, after `steps` worker-steps.
  [[nodiscard]] bool due(Time next, std::uint64_t steps) const;
  // Adds them. The instant at which the loss was found to be at or below the stop rule's, if it
  // was.
  [[nodiscard]] std::optional<Time> measure(Time now, Time next, std::uint64_t steps,
                                            const Models& models);
  // Adds the last point, with all replicas unless losses alone are asked for; none where nobody is
  // left to show one.
  void finish(Time end, const Models& models);

  [[nodiscard]] std::vector<LearningPoint>& points() { return points_; }
  // The model that the last point showed.
  [[nodiscard]] std::span<const T> model() const { return model_; }

 private:
  [[nodiscard]] bool add(Time at, const Models& models, bool with_replicas);
  [[nodiscard]] double mean_square(const Models& models) const;
  void score_replicas(const Models& models, LearningPoint& point);

  std::size_t parameters_;
  MeasureSpec measure_;
  std::optional<double> stop_loss_;
  double learning_rate_;
  Spacing spacing_;
  std::uint64_t next_steps_ = 0;
  Time next_time_{};
  Evaluator<T> evaluator_;
  std::vector<T> model_;
  std::vector<LearningPoint> points_;
};

}  // namespace cohort
