// Local computation in virtual time, stretched while a transfer of the worker is active
// (`workload.interference`).
//
// A segment of work advances at rate 1, or 1/(1+q) while at least one transfer of its worker is
// active; with q = 0 this is one event per segment and no state. Ends are rounded up to the next
// ns.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"

namespace cohort {

class Computation {
 public:
  // Worker w's segment ends as an event of slot w, which comes `report` after its end (none with
  // interference). `queue` outlives this.
  Computation(EventQueue& queue, std::uint32_t workers, double interference, Time report);

  // `work` was begun at `begin`, which may lie before `now` (a worker that went on by itself).
  // Throws InputError when the end lies beyond what 64-bit nanoseconds can name.
  void begin(std::uint32_t worker, Time begin, Time work, std::uint32_t tie, Time now);
  // The worker's segment has ended (its event came) or is given up.
  void end(std::uint32_t worker) {
    if (!segments_.empty()) segments_[worker].running = false;
  }

  // False: transfers stretch nothing and need not be told.
  [[nodiscard]] bool interferes() const { return !segments_.empty(); }
  void transfer_began(std::uint32_t worker, Time now);
  void transfer_ended(std::uint32_t worker, Time now);

 private:
  struct Segment {
    double remaining = 0;  // ns of work, at `updated`
    Time updated{};
    std::uint32_t tie = 0;
    std::uint32_t transfers = 0;
    bool running = false;
  };
  void advance(Segment& segment, Time now) const;
  void schedule(std::uint32_t worker);

  EventQueue& queue_;
  double stretch_;  // 1 + q
  Time report_;
  std::vector<Segment> segments_;  // by worker; empty without interference
};

}  // namespace cohort
