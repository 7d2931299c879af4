#include "traces/learning.h"

#include <algorithm>

namespace cohort {
namespace {

template <typename Axis>
std::optional<double> crossing(std::span<const LearningPoint> curve, double target, Axis axis) {
  const auto reached = std::ranges::find_if(
      curve, [&](const LearningPoint& point) { return point.mean.loss <= target; });
  if (reached == curve.end()) return std::nullopt;
  const double at = axis(*reached);
  if (reached == curve.begin()) return at;
  const auto& before = *std::prev(reached);
  const double share = (before.mean.loss - target) / (before.mean.loss - reached->mean.loss);
  return axis(before) + share * (at - axis(before));
}

}  // namespace

std::optional<double> seconds_to_loss(std::span<const LearningPoint> curve, double target) {
  return crossing(curve, target, [](const LearningPoint& point) { return point.seconds; });
}

std::optional<double> samples_to_loss(std::span<const LearningPoint> curve, double target) {
  return crossing(curve, target,
                  [](const LearningPoint& point) { return static_cast<double>(point.samples); });
}

}  // namespace cohort
