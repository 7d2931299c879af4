// What a run reports: totals of the whole run, and throughput and the split of worker time inside
// the window (t0, t1].
//
// t0: the instant the slowest worker has done `warmup` steps (0: the start). t1: the first instant
// at which a worker has done its quota, leaves or is lost, or the end. Steps that end at t1 count.
// Intervals are given when they end, so clipping them to the window is exact. When the window is
// empty the whole run is reported and the row says so.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "policies/synchronisation.h"
#include "traces/result_row.h"

namespace cohort {

enum class Spent : std::uint8_t { Compute, Wait, Sync, Coordinate };

class Statistics {
 public:
  // A worker spent [begin, end) in this way.
  void spent(Spent how, Time begin, Time end) {
    const auto which = static_cast<std::size_t>(how);
    const auto length = static_cast<double>((end - begin).count());
    if (begin >= t0_ && end <= t1_) [[likely]] {
      inside_[which] += length;
    } else {
      const double inside = length_inside(begin, end);
      inside_[which] += inside;
      outside_[which] += length - inside;
    }
  }
  void step_done(Time now) {
    ++steps_;
    if (now > t0_ && now <= t1_) ++window_steps_;
  }
  // The first call counts; later ones are ignored.
  void open_window(Time t0) {
    if (t0_ == kNever) t0_ = t0;
  }
  void close_window(Time t1) {
    if (t1_ == kNever) t1_ = t1;
  }
  // A synchronisation of `members` ended; `blocked` of them spent `fixed` of it in terms that load
  // no link.
  void synchronised(std::size_t members, std::size_t blocked, Time fixed, double inter_node_bytes,
                    double intra_node_bytes) {
    if (members > 1) ++synchronisations_;
    fixed_ += static_cast<double>(fixed.count()) * static_cast<double>(blocked);
    inter_node_bytes_ += inter_node_bytes;
    intra_node_bytes_ += intra_node_bytes;
  }
  void conflict() { ++conflicts_; }

  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  // Fills the fields that this class knows; `end`: when the last worker ended.
  void fill(ResultRow& row, Time end) const;

 private:
  [[nodiscard]] double length_inside(Time begin, Time end) const {
    const Time inside = std::min(end, t1_) - std::max(begin, t0_);
    return static_cast<double>(std::max<std::int64_t>(0, inside.count()));
  }

  static constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};
  using Split = std::array<double, 4>;

  Time t0_ = kNever, t1_ = kNever;
  Split inside_{}, outside_{};  // the window, ns
  double fixed_ = 0;            // ns, whole run
  std::uint64_t steps_ = 0, window_steps_ = 0;
  std::uint64_t synchronisations_ = 0, conflicts_ = 0;
  double inter_node_bytes_ = 0, intra_node_bytes_ = 0;
};

}  // namespace cohort
