// A measured size-to-bus-bandwidth curve as the cost of collectives needs it (SEMANTICS 3).
//
// Bus bandwidth is that of nccl-tests: all-reduce time = 2(g-1)/g * bytes / bus bandwidth.
#pragma once

#include <vector>

#include "sim/cluster.h"

namespace cohort {

class BusCurve {
 public:
  // Throws ContractError unless the curve has points, strictly increasing bytes and bandwidths > 0.
  explicit BusCurve(const MeasuredCurve& curve);

  // Bytes per second for a payload in bytes: exact at the points, linear in the logarithms between
  // them, constant outside. Remembers the last payload: most runs have one.
  [[nodiscard]] double at(double bytes);

 private:
  [[nodiscard]] double interpolate(double bytes) const;

  std::vector<std::pair<double, double>> points_;
  double last_bytes_ = -1;  // of no payload
  double last_bandwidth_ = 0;
};

}  // namespace cohort
