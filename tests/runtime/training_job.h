// Runs with training for tests: small tasks on four workers, and what they are held against.
#pragma once

#include <memory>
#include <string>

#include "runtime/run_record.h"
#include "runtime/run_setup.h"
#include "training/training_plan.h"

namespace cohort {

// Softmax regression on a small synthetic set, a point of the curve every ten steps of each of four
// workers.
[[nodiscard]] std::shared_ptr<TrainingPlan> softmax_plan();

[[nodiscard]] std::shared_ptr<TrainingPlan> momentum_plan();  // the same with momentum 0.9

[[nodiscard]] Options with(const std::string& name, const OptionValue& value);
[[nodiscard]] OptionValue word(const char* text);

// Four workers on two nodes, 40 steps each.
[[nodiscard]] RunSetup training_setup(const std::string& policy, const Options& given,
                                      std::shared_ptr<const TrainingPlan> plan);

[[nodiscard]] const LearningPoint& first(const RunRecord& record);
[[nodiscard]] const LearningPoint& last(const RunRecord& record);

// The loss and accuracy of the model that one process trains on the batches of all workers
// together.
[[nodiscard]] Score union_score(const RunSetup& setup, std::uint64_t steps);

}  // namespace cohort
