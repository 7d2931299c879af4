// Training in virtual time: what the Simulation calls at the instants of a worker's life, so that
// every replica has at each of them the parameters that it would have had, staleness included.
//
// A step's gradient is taken at the worker's parameters as they stand when the step begins and is
// used once:
//   models, update_then_average   at the end of the computation, on the parameters as they are then
//   models, average_then_update   when the worker resumes, averaged or not
//   gradients (all-reduce)        when the group mean is done: each member applies the weighted
//   mean
//                                 of them; a worker alone applies its own when it resumes
//   parameter server              at the start of a pull: sync, one update with the mean of what
//   was
//                                 pushed; async, an update with what this worker pushed, at rate /
//                                 n
// Averages: sim/replicas.h. A pull gives the worker the servers' parameters as they were at its
// start. Schedules count the samples of all gradients used so far. A worker that goes on in the
// background goes on at its ready, although a central policy says so one trip later: its snapshot
// and its next gradient are taken at the parameters of then (average_then_update: the gradient at
// those of the release, which the update has just changed).
//
// The learning curve has its points where MeasureSpec::every and point_spacing()
// (training/evaluation.h) put them: after the last event of the instant that makes one due. The run
// ends at the first one whose loss is at or below the stop rule's.
//
// Results do not depend on the number of threads. Private to sim/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "policies/policy.h"
#include "policies/topology.h"
#include "sim/scenario.h"

namespace cohort {

class VirtualTraining {
 public:
  virtual ~VirtualTraining() = default;

  // The life of a step, in this order. Throws InputError ("/workload/training") when a loss is not
  // finite.
  virtual void begin(std::uint32_t worker, std::uint64_t step) = 0;
  virtual void computed(std::uint32_t worker) = 0;
  // Released with a snapshot of its parameters: as they are, or, when it goes on at an earlier
  // instant than this, its ready, as they were then.
  virtual void snapshot(std::uint32_t worker, bool at_ready) = 0;
  virtual void resumed(std::uint32_t worker) = 0;

  virtual void started(const Action& start, std::span<const Member> members) = 0;
  // Each member's squared distance from the mean, for the policy; empty for server exchanges and
  // averages of gradients. Valid until the next call.
  virtual std::span<const double> done(SyncId sync) = 0;
  virtual void failed(SyncId sync) = 0;
  virtual void lost(std::uint32_t worker) = 0;

  // An instant is over, the next event is at `next`, after `steps` worker-steps. The instant at
  // which the stop rule's loss was reached, if it was.
  [[nodiscard]] virtual std::optional<Time> measure(Time now, Time next, std::uint64_t steps) = 0;
  // The run is over.
  [[nodiscard]] virtual Learning finish(Time end) = 0;
};

// Bytes on the wire per byte of parameters: two where velocities are averaged with them.
[[nodiscard]] double payload_factor(const Scenario& scenario);

// Null when the scenario has no training. Throws InputError ("/workload/training") when the
// replicas cannot fit into memory. Keeps the reference.
[[nodiscard]] std::unique_ptr<VirtualTraining> make_virtual_training(
    const Scenario& scenario, const Topology& topology, const SimulateOptions& options);

}  // namespace cohort
