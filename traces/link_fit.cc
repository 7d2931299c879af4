#include "traces/link_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "policies/errors.h"

namespace cohort {
namespace {

constexpr std::uint64_t kFloorBytes = 4096;
// A latency shows when it is at least this share of the shortest time, a bandwidth when it is at
// least this share of the longest.
constexpr double kVisibleShare = 0.5;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<double> floor_seconds(const NcclLog& log) {
  std::vector<double> times;
  for (const NcclRow& row : log.rows) {
    if (row.bytes >= 1 && row.bytes <= kFloorBytes) times.push_back(row.time_us * 1e-6);
  }
  return times.empty() ? std::nullopt : std::optional(median(std::move(times)));
}

std::vector<CurvePoint> curve(const NcclLog& log) {
  std::map<std::uint64_t, std::vector<double>> times;
  for (const NcclRow& row : log.rows) {
    if (row.bytes > 0) times[row.bytes].push_back(row.time_us * 1e-6);
  }
  const auto factor = log.ranks > 1 ? bus_factor(log.collective, log.ranks) : std::nullopt;
  std::vector<CurvePoint> points;
  for (auto& [bytes, seconds] : times) {
    CurvePoint point{bytes, median(std::move(seconds)), 0, std::nullopt};
    point.algorithm_bytes_per_second = static_cast<double>(bytes) / point.seconds;
    if (factor) point.bus_bytes_per_second = point.algorithm_bytes_per_second * *factor;
    points.push_back(point);
  }
  return points;
}

std::optional<double> tail(const std::vector<CurvePoint>& curve) {
  if (curve.size() < 2) return std::nullopt;
  const CurvePoint& last = curve.back();
  const CurvePoint& before = curve[curve.size() - 2];
  if (last.seconds <= before.seconds) return std::nullopt;
  return static_cast<double>(last.bytes - before.bytes) / (last.seconds - before.seconds);
}

// Why a fit says nothing about the links; empty when it does.
std::optional<std::string> unseen(const AlphaBeta& fit, const std::vector<CurvePoint>& curve) {
  if (fit.latency_seconds < kVisibleShare * curve.front().seconds) {
    return fmt::format(
        "no latency: even at the smallest size ({} B) the time is mostly transfer; "
        "measure smaller sizes",
        curve.front().bytes);
  }
  const double transfer = static_cast<double>(curve.back().bytes) / fit.bytes_per_second;
  if (fit.bytes_per_second <= 0 || transfer < kVisibleShare * curve.back().seconds) {
    return fmt::format(
        "no bandwidth: even at the largest size ({} B) the time is mostly latency; "
        "measure larger sizes",
        curve.back().bytes);
  }
  return std::nullopt;
}

void fit_model(const NcclLog& log, LinkFit& result) {
  const auto refuse = [&](std::string why) { result.refusals.push_back(std::move(why)); };
  if (log.ranks == 1) {
    return refuse("no latency, bandwidth or curve of a link: one rank crosses none");
  }
  if (result.curve.size() < 2) return refuse("no latency or bandwidth from one size");
  const AlphaBeta fit = fit_alpha_beta(result.curve);
  if (auto why = unseen(fit, result.curve)) return refuse(std::move(*why));
  result.fit = fit;
  if (log.collective != NcclCollective::AllReduce || log.ranks < 2) {
    return refuse("no link of a ring: that needs an all-reduce of known ranks");
  }
  result.hop = RingHop{fit.latency_seconds / (2.0 * (log.ranks - 1)),
                       fit.bytes_per_second * *bus_factor(log.collective, log.ranks)};
}

}  // namespace

AlphaBeta fit_alpha_beta(const std::vector<CurvePoint>& curve) {
  // Weighted by 1/t^2: minimises the relative error. Normal equations of x = 1/t, y = S/t
  // against 1.
  double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
  for (const CurvePoint& point : curve) {
    const double x = 1 / point.seconds;
    const double y = static_cast<double>(point.bytes) / point.seconds;
    xx += x * x, xy += x * y, yy += y * y, x1 += x, y1 += y;
  }
  const double determinant = xx * yy - xy * xy;
  const double a = (x1 * yy - y1 * xy) / determinant;
  const double seconds_per_byte = (xx * y1 - xy * x1) / determinant;
  AlphaBeta fit{a, 1 / seconds_per_byte, 0, 0};
  for (const CurvePoint& point : curve) {
    const double fitted = a + static_cast<double>(point.bytes) * seconds_per_byte;
    const double error = std::abs(fitted / point.seconds - 1);
    if (error > fit.worst_error) fit.worst_error = error, fit.worst_bytes = point.bytes;
  }
  return fit;
}

LinkFit fit_link(const NcclLog& log) {
  if (!log.failures.empty()) {
    throw InputError(log.file, fmt::format("the run failed ({}): nothing is taken from it",
                                           log.failures.front()));
  }
  LinkFit result;
  result.curve = curve(log);
  if (result.curve.empty()) {
    throw InputError(log.file, "no whole row of a size above zero: nothing can be taken from it");
  }
  result.floor_seconds = floor_seconds(log);
  if (!result.floor_seconds) result.refusals.emplace_back("no floor: no size from 1 to 4096 B");
  result.tail_bytes_per_second = log.ranks == 1 ? std::nullopt : tail(result.curve);
  if (!result.tail_bytes_per_second) {
    result.refusals.emplace_back("no tail: it needs two sizes, several ranks and a growing time");
  }
  fit_model(log, result);
  return result;
}

}  // namespace cohort
