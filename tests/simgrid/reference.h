// The reference simulator: drives the same Policy object over SimGrid's parallel tasks.
//
// One SimGrid actor per worker sleeps for the recorded compute time, reports ready and waits until
// it is released. A group mean is one parallel task without computation whose bytes follow the
// ring: 2(g-1)/g*B from each member to the next. The host model is ptask_L07 with the solver `bmf`,
// whose fairness (equal bandwidth among the tasks that share a bottleneck) is ours for rings, which
// cross each link once. Latencies, overlap, background averages and losses are outside this driver:
// ContractError.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/scenario.h"

namespace cohort {

struct ReferenceResult {
  double simulated_seconds = 0;  // until the last worker has done its quota
  std::uint64_t synchronisations = 0;
  double cpu_seconds = 0;  // of the event loop alone: start-up, platform and trace are not in it
};

// One per process, as SimGrid's engine is.
class Reference {
 public:
  // All clusters that will be met, each of another shape: SimGrid takes no platform after its first
  // run.
  explicit Reference(const std::vector<ClusterSpec>& clusters);
  ~Reference();

  // The scenario's only straggler model is a replay in seconds of at least its quota of steps; it
  // stops by `steps_per_worker`.
  [[nodiscard]] ReferenceResult run(const Scenario& scenario);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
