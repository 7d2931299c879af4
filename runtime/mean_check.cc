#include "runtime/mean_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cohort {
namespace {

using SamplesByMember = std::span<const std::vector<message::Sample>>;

// The means of what was given, entry by entry, with the magnitudes to judge errors by.
struct Exact {
  double signed_sum = 0;
  double signed_scale = 0;
  std::vector<double> entries;
  std::vector<double> scales;

  void give(const message::Sample& sample, double weight) {
    signed_sum += weight * sample.signed_sum;
    signed_scale = std::max(signed_scale, std::abs(sample.signed_sum));
    entries.resize(sample.entries.size());
    scales.resize(sample.entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const double entry = sample.entries[i];
      entries[i] += weight * entry;
      scales[i] = std::max(scales[i], std::abs(entry));
    }
  }
};

double relative(double found, double exact, double scale) {
  const double error = std::abs(found - exact);
  if (error == 0) return 0;
  return std::isfinite(error) && scale > 0 ? error / scale
                                           : std::numeric_limits<double>::infinity();
}

double error_of(const message::Sample& found, const Exact& exact) {
  double largest = relative(found.signed_sum, exact.signed_sum, exact.signed_scale);
  for (std::size_t i = 0; i < exact.entries.size(); ++i)
    largest = std::max(largest, relative(found.entries[i], exact.entries[i], exact.scales[i]));
  return largest;
}

}  // namespace

bool is_verified(SyncKind kind, Role role) {
  const bool mean = kind == SyncKind::GroupMean || kind == SyncKind::PairMean;
  return mean && role != Role::Forwarder;
}

MeanError mean_error(SyncKind kind, std::span<const Member> members, SamplesByMember samples,
                     std::uint64_t entries) {
  Exact exact;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (is_verified(kind, members[i].role)) exact.give(samples[i].front(), members[i].weight);
  const double most = exact.scales.empty() ? 0 : std::ranges::max(exact.scales);
  exact.signed_scale = std::max(exact.signed_scale, most * std::sqrt(static_cast<double>(entries)));
  MeanError worst;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!is_verified(kind, members[i].role)) continue;
    const double error = error_of(samples[i].back(), exact);
    if (error > worst.largest) worst = {error, i};
  }
  return worst;
}

}  // namespace cohort
