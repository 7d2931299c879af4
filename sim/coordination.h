// The way to the group generator and back: one-way latency, and one server that takes `service` per
// message, in order.
//
// Local policies decide at the workers: no trip, no service. A central policy gets a ready one trip
// after it happened; its starts, and its releases without a synchronisation, take effect one trip
// after the decision (SEMANTICS 2 and 3). Where the group generator hosts all policies, as it does
// in a real run, every policy counts as central.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "policies/registry.h"
#include "policies/synchronisation.h"

namespace cohort {

class Coordination {
 public:
  Coordination(Where where, Time latency, Time service)
      : latency_(where == Where::Local ? Time{} : latency),
        service_(where == Where::Local ? Time{} : service) {}

  [[nodiscard]] bool immediate() const { return latency_ == Time{} && service_ == Time{}; }
  [[nodiscard]] Time latency() const { return latency_; }
  [[nodiscard]] bool queues() const { return service_ > Time{}; }

  // Messages reach the server, or are to leave it, at `now`; returns when the last has been served.
  Time serve(Time now, std::size_t messages = 1) {
    return busy_until_ =
               std::max(now, busy_until_) + service_ * static_cast<std::int64_t>(messages);
  }

 private:
  Time latency_, service_;
  Time busy_until_{};
};

}  // namespace cohort
