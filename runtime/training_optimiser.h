// A parameter server's optimiser for real: SGD with a velocity of its own on the shard.
//
// Synchronous: once a round, the mean of what was pushed since the last, at the full rate.
// Asynchronous: each push alone, at 1/n of the rate, as soon as it is there; whoever pulls later
// gets it. The schedule counts the samples of all pushes before. Copies for the learning curve are
// taken after updates; time counts from the first push.
#pragma once

#include <functional>
#include <memory>

#include "runtime/member_training.h"
#include "runtime/shard_optimiser.h"

namespace cohort {

// `training` outlives it; `now` tells the group generator's time.
[[nodiscard]] std::unique_ptr<ShardOptimiser> make_training_optimiser(
    MemberTraining& training, const message::Prepare& prepare, VectorUnit& unit,
    std::function<Time()> now);

}  // namespace cohort
