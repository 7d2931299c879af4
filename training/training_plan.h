// A run's training as a driver gets it: what is trained, on which data, and what is measured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "policies/synchronisation.h"
#include "training/dataset.h"
#include "training/training_rules.h"
#include "training/training_spec.h"

namespace cohort {

struct MeasureSpec {
  // Between two points of the learning curve: worker-steps of all workers together, or time. Points
  // at the start and the end are there anyway. None: about 50 points, see Evaluations.
  std::variant<std::monostate, std::uint64_t, Time> every{};
  std::optional<double> target_loss{};
  // Of the training set, chosen at random by the run's seed, for losses; all, where it has fewer.
  std::uint32_t samples = 2048;
  // Whether every point has the worst replica and worker 0's, not only the last one: costs an
  // evaluation of each replica.
  bool replicas = false;
  // The loss of the mean model alone, at the end too: for searches that look at nothing else.
  bool losses_only = false;
};

struct TrainingPlan {
  TrainingSpec training;
  std::shared_ptr<const Dataset> dataset;  // never null; empty for models without data
  MeasureSpec measure;
};

}  // namespace cohort
