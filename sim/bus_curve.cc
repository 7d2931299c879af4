#include "sim/bus_curve.h"

#include <algorithm>
#include <cmath>

#include "policies/errors.h"

namespace cohort {

BusCurve::BusCurve(const MeasuredCurve& curve) : points_(curve.bus_bandwidth) {
  if (points_.empty()) throw ContractError("measured curve: no points");
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const double above = i == 0 ? 0 : points_[i - 1].first;
    if (!(points_[i].first > above) || !(points_[i].second > 0)) {
      throw ContractError("measured curve: bytes must increase and bandwidths be above zero");
    }
  }
}

double BusCurve::at(double bytes) {
  if (bytes != last_bytes_) {
    last_bandwidth_ = interpolate(bytes);
    last_bytes_ = bytes;
  }
  return last_bandwidth_;
}

double BusCurve::interpolate(double bytes) const {
  const auto above = std::lower_bound(points_.begin(), points_.end(), bytes,
                                      [](const auto& point, double b) { return point.first < b; });
  if (above == points_.end()) return points_.back().second;
  if (above == points_.begin() || above->first == bytes) return above->second;
  const auto below = above - 1;
  const double share = std::log(bytes / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, share);
}

}  // namespace cohort
