#include "sim/statistics.h"

#include <algorithm>
#include <utility>

#include "traces/units.h"

namespace cohort {
namespace {

// The term that takes the largest share of worker time; the sync share is split by the whole run's
// fixed terms.
std::string dominant_term(const ResultRow& row, double fixed_share_of_sync) {
  const std::pair<double, const char*> terms[] = {
      {row.compute_fraction, "compute"},
      {row.sync_fraction * (1 - fixed_share_of_sync), "bandwidth"},
      {row.sync_fraction * fixed_share_of_sync, "latency"},
      {row.coordinate_fraction, "coordination"},
      {row.wait_fraction, "wait"},
  };
  return std::max_element(std::begin(terms), std::end(terms),
                          [](auto& a, auto& b) { return a.first < b.first; })
      ->second;
}

}  // namespace

void Statistics::fill(ResultRow& row, Time end) const {
  const Time t1 = std::min(t1_, end);
  row.whole_run_window = t1 <= t0_;
  Split whole = inside_;
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] += outside_[i];
  const Split& split = row.whole_run_window ? whole : inside_;
  const double total = split[0] + split[1] + split[2] + split[3];
  const double length = seconds(row.whole_run_window ? end : t1 - t0_);
  const auto steps = row.whole_run_window ? steps_ : window_steps_;
  if (length > 0) row.throughput_steps_per_second = static_cast<double>(steps) / length;
  if (total > 0) {
    row.compute_fraction = split[0] / total;
    row.wait_fraction = split[1] / total;
    row.sync_fraction = split[2] / total;
    row.coordinate_fraction = split[3] / total;
  }
  const double sync = whole[static_cast<std::size_t>(Spent::Sync)];
  row.dominant_term = dominant_term(row, sync > 0 ? std::min(1.0, fixed_ / sync) : 0);
  row.worker_steps = steps_;
  row.elapsed_seconds = seconds(end);
  row.synchronisations = synchronisations_;
  row.conflicts = conflicts_;
  row.inter_node_bytes = inter_node_bytes_;
  row.intra_node_bytes = intra_node_bytes_;
}

}  // namespace cohort
