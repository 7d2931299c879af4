// What a collective benchmark shows about the links: floor, tail, measured curve, alpha-beta fit.
//
//   floor   median time over the sizes 1..4096 B
//   tail    (S2 - S1) / (t2 - t1) of the two largest sizes, bytes per second
//   curve   median time of each size > 0, ascending, and its bus bandwidth
//   fit     t = a + S / b by least squares with weights 1/t^2, and its largest relative error
// What the log cannot show stays empty and `refusals` say why. Nothing comes out of a failed run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/nccl_tests.h"

namespace cohort {

struct CurvePoint {
  std::uint64_t bytes = 0;
  double seconds = 0;
  double algorithm_bytes_per_second = 0;
  std::optional<double> bus_bytes_per_second;  // empty: ranks or collective unknown
};

struct AlphaBeta {
  double latency_seconds = 0;   // a, of the whole collective
  double bytes_per_second = 0;  // b, of the whole collective
  double worst_error = 0;       // largest |fit - t| / t
  std::uint64_t worst_bytes = 0;
};
// A fit that is further off than this somewhere is no model: the measured curve is.
inline constexpr double kGoodFit = 0.1;

// The fit on the hops of a ring: t = 2(g-1) latency + 2(g-1)/g S / bandwidth.
struct RingHop {
  double latency_seconds = 0;
  double bytes_per_second = 0;
};

struct LinkFit {
  std::optional<double> floor_seconds;
  std::optional<double> tail_bytes_per_second;
  std::vector<CurvePoint> curve;
  std::optional<AlphaBeta> fit;
  std::optional<RingHop> hop;  // all-reduce only
  std::vector<std::string> refusals;
};

// Throws InputError when the run failed or has no row of a size above zero.
[[nodiscard]] LinkFit fit_link(const NcclLog& log);

// Of at least two distinct sizes.
[[nodiscard]] AlphaBeta fit_alpha_beta(const std::vector<CurvePoint>& curve);

}  // namespace cohort
