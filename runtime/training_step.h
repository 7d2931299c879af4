// A worker's local step for real: the gradient of its batch at the parameters as they stand when
// the step begins, and the update by the policy's rules (SEMANTICS 1):
//
//   update_then_average   applied when the computation is over, to the parameters as they are then
//   average_then_update   applied when the worker resumes
//   gradients averaged    offered for the mean, which the worker applies when it resumes
//   parameter server      offered for the push; never applied here
// It lasts at least the drawn work and sleeps the rest of it; where computing takes longer, so does
// the step. Copies for the learning curve are taken when the worker resumes. For the schedule all
// workers together have used workers * own steps * batch samples: what others have done meanwhile
// nobody knows at that moment.
#pragma once

#include <functional>
#include <memory>

#include "runtime/local_step.h"
#include "runtime/member_training.h"
#include "runtime/model_unit.h"

namespace cohort {

// `training` and `replica` outlive it. `model`: where the replica's vectors are; null: that is the
// host's memory, and `training`'s model serves. `now` tells the group generator's time.
[[nodiscard]] std::unique_ptr<LocalStep> make_training_step(MemberTraining& training,
                                                            Replica& replica,
                                                            std::unique_ptr<ModelUnit> model,
                                                            std::function<Time()> now);

}  // namespace cohort
