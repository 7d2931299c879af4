// A local step that sleeps for its work, and the change that every emulated step makes.
#pragma once

#include "runtime/local_step.h"

namespace cohort {

// What an emulated step changes: a slice of at most 4096 entries that moves on with every step, by
// values that depend on (seed, worker, step) alone. Added to the parameters; under a parameter
// server it is the gradient, zero elsewhere.
class EmulatedChange {
 public:
  // Under the replica's lock.
  void apply(Replica& replica, std::uint64_t step);

 private:
  Buffer slice_;  // allocated at the first step
};

// Sleeps until work is over to within the timer's resolution; looks at Replica::over now and then.
[[nodiscard]] std::unique_ptr<LocalStep> make_sleeping_step();

}  // namespace cohort
