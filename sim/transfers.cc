#include "sim/transfers.h"

#include <algorithm>

#include "traces/units.h"

namespace cohort {

ActivityIndex Transfers::prepare(Slot slot, std::uint32_t tie, std::span<const Load> loads,
                                 double amount) {
  const ActivityIndex activity = network_.prepare(loads);
  const auto i = static_cast<std::size_t>(activity);
  if (i >= flows_.capacity()) flows_.reserve(i * 5 / 4 + 64);  // doubling would take more memory
  if (i >= flows_.size()) flows_.resize(i + 1);
  flows_[i] = {.remaining = amount, .rate = 0, .updated = {}, .slot = slot, .tie = tie};
  return activity;
}

void Transfers::begin(ActivityIndex activity, Time now) {
  network_.begin(activity);
  flows_[static_cast<std::size_t>(activity)].updated = now;
}

void Transfers::end(ActivityIndex activity) { network_.remove(activity); }

double Transfers::remaining(ActivityIndex activity, Time now) const {
  const Flow& flow = flows_[static_cast<std::size_t>(activity)];
  return std::max(0.0,
                  flow.remaining - flow.rate * static_cast<double>((now - flow.updated).count()));
}

void Transfers::settle(Time now) {
  for (const ActivityIndex activity : network_.solve()) {
    Flow& flow = flows_[static_cast<std::size_t>(activity)];
    flow.remaining = remaining(activity, now);
    flow.updated = now;
    const double rate = network_.rate(activity);
    flow.rate = rate * 1e-9;
    queue_.schedule(flow.slot, instant_after(now, from_seconds_up(flow.remaining / rate)),
                    flow.tie);
  }
}

}  // namespace cohort
