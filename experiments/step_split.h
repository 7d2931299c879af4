// Where the time of each step of a real run went, from the instants that were recorded.
//
// A step reaches from its beginning to the next one's (`resumed`) and falls into consecutive
// intervals:
//   compute     began .. ended
//   wait        since .. decided - trip
//   coordinate  .. transfer's beginning (making the communicator included)
//   sync        the transfer: from the last member's beginning of it to the last member's end (one
//               that sends may be over long before what it sent has arrived)
// once for each synchronisation that the step blocked in, in their order, and then
//   coordinate  the last transfer's end .. resumed
// `since` is the step's end, then the end of the transfer before. `trip` is how long the report
// that the decision waited for was under way: that of the last blocking member, its ready, or, for
// the second of two chained synchronisations (push, then pull), its done. A step without a
// synchronisation waits until it is answered; of that, twice its ready's trip is coordination.
// Clocks of different processes are only nearly the same, so every instant is clamped into order.
#pragma once

#include <vector>

#include "runtime/run_record.h"
#include "sim/statistics.h"

namespace cohort {

struct SplitInterval {
  Spent how = Spent::Compute;
  Time begin{};
  Time end{};
  const SyncTiming* sync = nullptr;  // of Spent::Sync
};

struct SplitStep {
  const StepTiming* timing = nullptr;
  bool done = false;    // it was resumed: an unfinished step waits until the run's end
  Time answered{};      // by the policy: the last synchronisation was done, or the ready arrived
  Time communicator{};  // of the coordination: spent on making communicators
  std::vector<SplitInterval> intervals{};
};

struct SplitRun {
  std::vector<std::vector<SplitStep>> steps;  // by worker, in order
  std::uint64_t conflicts = 0;  // synchronisations decided after all blocking members had reported
};

// Refers to `record`, which must outlive the result.
[[nodiscard]] SplitRun split_steps(const RunRecord& record, std::uint32_t workers);

}  // namespace cohort
