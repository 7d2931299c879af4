#include "sim/computation.h"

#include <algorithm>

#include "traces/units.h"

namespace cohort {

Computation::Computation(EventQueue& queue, std::uint32_t workers, double interference, Time report)
    : queue_(queue), stretch_(1 + interference), report_(report) {
  if (interference > 0) segments_.resize(workers);
}

void Computation::begin(std::uint32_t worker, Time begin, Time work, std::uint32_t tie, Time now) {
  if (segments_.empty()) {
    queue_.schedule(Slot{worker}, instant_after(std::max(now, instant_after(begin, work)), report_),
                    tie);
    return;
  }
  Segment& segment = segments_[worker];
  segment.remaining = static_cast<double>(work.count());
  segment.updated = begin;
  segment.tie = tie;
  segment.running = true;
  advance(segment, now);
  schedule(worker);
}

void Computation::transfer_began(std::uint32_t worker, Time now) {
  Segment& segment = segments_[worker];
  advance(segment, now);
  if (segment.transfers++ == 0 && segment.running) schedule(worker);
}

void Computation::transfer_ended(std::uint32_t worker, Time now) {
  Segment& segment = segments_[worker];
  advance(segment, now);
  if (--segment.transfers == 0 && segment.running) schedule(worker);
}

void Computation::advance(Segment& segment, Time now) const {
  const double passed = static_cast<double>((now - segment.updated).count());
  segment.remaining =
      std::max(0.0, segment.remaining - (segment.transfers > 0 ? passed / stretch_ : passed));
  segment.updated = now;
}

void Computation::schedule(std::uint32_t worker) {
  const Segment& segment = segments_[worker];
  const double left = segment.transfers > 0 ? segment.remaining * stretch_ : segment.remaining;
  queue_.schedule(Slot{worker}, instant_after(segment.updated, from_seconds_up(left * 1e-9)),
                  segment.tie);
}

}  // namespace cohort
