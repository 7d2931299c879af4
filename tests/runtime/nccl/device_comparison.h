// A model on the GPU and the same on the host, side by side: how far apart they are after the same
// steps. Used by the tests, on the stand-in, and by gpu_check.
#pragma once

#include <string>
#include <vector>

#include "runtime/backend.h"
#include "training/training_plan.h"

namespace cohort {

struct NamedPlan {
  std::string name;
  TrainingPlan plan;
};

// Each kind of model on small synthetic images, also of odd sides and of several channels; with
// momentum, weight decay, and batches that do not divide the set.
[[nodiscard]] std::vector<NamedPlan> small_plans();

[[nodiscard]] std::size_t parameters_of(const TrainingPlan& plan);

// Largest differences between the two, relative to the loss, and to the largest entry on the host.
struct Differences {
  double loss = 0;
  double gradient = 0;    // of the first step, at the initial parameters
  double parameters = 0;  // after all steps
};
[[nodiscard]] Differences compare_with_host(const TrainingPlan& plan, Backend& backend,
                                            std::uint64_t steps);
// Local steps (gradient and update) that the backend takes, over half a second after a warm-up.
[[nodiscard]] double steps_a_second(const TrainingPlan& plan, Backend& backend);

}  // namespace cohort
