// One worker's local step, behind the interface that real training will use. Emulated here: it
// takes as long as it is told and changes a few parameters, so that averages have something to do.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/replica.h"

namespace cohort {

class LocalStep {
 public:
  virtual ~LocalStep() = default;
  // The long part, on the parameters as they are at its beginning; takes `work` when emulated.
  // Called without the replica's lock.
  virtual void compute(Replica& replica, std::uint64_t step, Time work) = 0;
  // The update: of the parameters, or of the gradient to push under a parameter server. Called with
  // the replica's lock; averages that came meanwhile are in.
  virtual void apply(Replica& replica, std::uint64_t step) = 0;
};

}  // namespace cohort
