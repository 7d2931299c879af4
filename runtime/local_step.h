// One worker's local step: emulated, it takes as long as it is told and changes a few parameters,
// so that averages have something to do (runtime/emulated_step.h); or the real thing
// (runtime/training_step.h). Called by the compute thread: resume, compute, apply, resume, ...
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/replica.h"

namespace cohort {

class LocalStep {
 public:
  virtual ~LocalStep() = default;
  // The worker goes on, or has its quota: `steps` are done, and the average that it waited for is
  // in. Called with the replica's lock.
  virtual void resume(Replica&, std::uint64_t /*steps*/) {}
  // The long part, on the parameters as they are at its beginning; takes `work` when emulated, at
  // least that otherwise. False: the loss is not finite, so there is nothing to apply. Called
  // without the replica's lock.
  [[nodiscard]] virtual bool compute(Replica& replica, std::uint64_t step, Time work) = 0;
  // The update: of the parameters, or of the gradient to push or average. Called with the replica's
  // lock; averages that came meanwhile are in.
  virtual void apply(Replica& replica, std::uint64_t step) = 0;
};

}  // namespace cohort
