// Transfers in virtual time: how far each active one has come, and when it will end at the current
// fair rates.
//
// Sits between the fair-share solver, which knows no time, and the event queue. The simulator
// begins and ends transfers and calls settle() before time advances, so all changes of one instant
// cost one solve.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/prefetch.h"
#include "sim/event_queue.h"
#include "sim/fair_share.h"

namespace cohort {

class Transfers {
 public:
  // Both outlive this.
  Transfers(EventQueue& queue, FairShare& network) : queue_(queue), network_(network) {}

  // `amount` > 0 bytes are to move over `loads`, but not yet; `slot` will get their end as an event
  // with this tie key.
  [[nodiscard]] ActivityIndex prepare(Slot slot, std::uint32_t tie, std::span<const Load> loads,
                                      double amount);
  // A prepared transfer starts to move; its end is scheduled once settled.
  void begin(ActivityIndex activity, Time now);
  // Forgets the transfer, ended, broken off or not begun; its links are free from now on.
  void end(ActivityIndex activity);
  // Bytes that a begun transfer still has to move.
  [[nodiscard]] double remaining(ActivityIndex activity, Time now) const;
  // Prefetches what begin, settle and end of one that has not ended need, in steps 0, 1 and 2.
  void expect(ActivityIndex activity, unsigned step) const {
    if (step == 0) prefetch(&flows_[static_cast<std::size_t>(activity)]);
    network_.expect(activity, step);
  }

  [[nodiscard]] bool dirty() const { return network_.dirty(); }
  // Shares the links anew and moves the ends of the transfers whose rate changed.
  void settle(Time now);

 private:
  struct alignas(32) Flow {  // two a cache line
    double remaining = 0;    // bytes, at `updated`
    double rate = 0;         // bytes per ns since then
    Time updated{};
    Slot slot{};
    std::uint32_t tie = 0;
  };

  EventQueue& queue_;
  FairShare& network_;
  std::vector<Flow> flows_;  // by activity
};

}  // namespace cohort
