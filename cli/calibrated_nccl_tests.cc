#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "cli/calibrated_file.h"
#include "experiments/spec_json.h"
#include "traces/link_fit.h"
#include "traces/nccl_tests.h"

namespace cohort {
namespace {

struct Calibration {
  NcclLog log;
  LinkFit fit;

  [[nodiscard]] bool effective() const { return log.hosts.size() > 1; }
};

// Six digits: more than a log prints.
double six_digits(double value) { return std::stod(fmt::format("{:.6g}", value)); }

OrderedJson optional_json(std::optional<double> value, double scale) {
  return value ? OrderedJson(six_digits(*value * scale)) : OrderedJson(nullptr);
}

// "2 MiB" where it is a whole number of these, else bytes.
std::string binary_size(std::uint64_t bytes) {
  constexpr std::uint64_t kMi = std::uint64_t{1} << 20;
  if (bytes >= kMi && bytes % kMi == 0) return fmt::format("{} MiB", bytes / kMi);
  if (bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes / 1024);
  return fmt::format("{} B", bytes);
}

// [[bytes, bus GB/s], ...]; null when bus bandwidths are not known or are not those of an
// all-reduce.
OrderedJson measured(const Calibration& calibration) {
  if (calibration.log.collective != NcclCollective::AllReduce) return nullptr;
  OrderedJson points = OrderedJson::array();
  for (const CurvePoint& point : calibration.fit.curve) {
    if (!point.bus_bytes_per_second) return nullptr;
    points.push_back({point.bytes, six_digits(*point.bus_bytes_per_second / 1e9)});
  }
  return points;
}

// The part of a spec's `cluster` that holds the alpha-beta fit; null without one.
OrderedJson fitted_cluster(const Calibration& calibration) {
  if (!calibration.fit.hop) return nullptr;
  const RingHop& hop = *calibration.fit.hop;
  const auto link = [&hop](double share) {
    return OrderedJson{{"bandwidth", fmt::format("{:.4g}GB/s", hop.bytes_per_second / 1e9)},
                       {"latency", fmt::format("{:.4g}us", hop.latency_seconds * 1e6 * share)}};
  };
  // A hop between nodes has twice the latency of a NIC.
  if (calibration.effective()) return {{"nic", link(0.5)}, {"collective", "ring"}};
  OrderedJson fabric = link(1);
  fabric["kind"] = "switched";
  return {{"fabric", std::move(fabric)}, {"collective", "ring"}};
}

OrderedJson fit_json(const Calibration& calibration) {
  if (!calibration.fit.fit) return nullptr;
  const AlphaBeta& fit = *calibration.fit.fit;
  return {{"latency_us", six_digits(fit.latency_seconds * 1e6)},
          {"bandwidth_gb_per_s", six_digits(fit.bytes_per_second / 1e9)},
          {"worst_relative_error", six_digits(fit.worst_error)},
          {"worst_bytes", fit.worst_bytes},
          {"good", fit.worst_error <= kGoodFit},
          {"effective", calibration.effective()},
          {"cluster", fitted_cluster(calibration)}};
}

// The row of the largest size, whose printed bandwidths the log's reader knows.
const NcclRow& last_row(const NcclLog& log) {
  return *std::max_element(log.rows.begin(), log.rows.end(),
                           [](const NcclRow& a, const NcclRow& b) { return a.bytes < b.bytes; });
}

OrderedJson to_json(const Calibration& calibration) {
  OrderedJson points = OrderedJson::array();
  for (const CurvePoint& point : calibration.fit.curve) {
    points.push_back({{"bytes", point.bytes},
                      {"time_us", six_digits(point.seconds * 1e6)},
                      {"algbw_gb_per_s", six_digits(point.algorithm_bytes_per_second / 1e9)},
                      {"busbw_gb_per_s", optional_json(point.bus_bytes_per_second, 1e-9)}});
  }
  const NcclLog& log = calibration.log;
  OrderedJson curve = measured(calibration);
  const NcclRow& last = last_row(log);
  return {{"kind", "nccl-tests"},
          {"file", log.file},
          {"collective", name(log.collective)},
          {"collective_named", log.collective_named},
          {"ranks", log.ranks == 0 ? OrderedJson(nullptr) : OrderedJson(log.ranks)},
          {"hosts", log.hosts},
          {"rows", log.rows.size()},
          {"floor_us", optional_json(calibration.fit.floor_seconds, 1e6)},
          {"last_row",
           {{"bytes", last.bytes},
            {"printed_algbw_gb_per_s", optional_json(last.printed_algorithm_gb_per_s, 1)},
            {"printed_busbw_gb_per_s", optional_json(last.printed_bus_gb_per_s, 1)}}},
          {"tail_gb_per_s", optional_json(calibration.fit.tail_bytes_per_second, 1e-9)},
          {"points", std::move(points)},
          {"measured", curve},
          {"fit", fit_json(calibration)},
          {"refused", calibration.fit.refusals},
          {"warnings", log.warnings}};
}

void add_fit(const Calibration& calibration, std::string& text) {
  const auto out = std::back_inserter(text);
  const LinkFit& fit = calibration.fit;
  if (fit.floor_seconds) {
    fmt::format_to(out, "  floor  {:.1f} us (median over 1..4096 B)\n", *fit.floor_seconds * 1e6);
  }
  if (fit.tail_bytes_per_second) {
    fmt::format_to(out, "  tail   {:.1f} GB/s (between the two largest sizes)\n",
                   *fit.tail_bytes_per_second / 1e9);
  }
  if (fit.fit) {
    fmt::format_to(
        out, "  fit    t = {:.1f} us + S / {:.1f} GB/s, up to {:.0f} % off, at {}{}\n",
        fit.fit->latency_seconds * 1e6, fit.fit->bytes_per_second / 1e9, fit.fit->worst_error * 100,
        binary_size(fit.fit->worst_bytes),
        fit.fit->worst_error > kGoodFit ? ": no good model here, use the measured curve" : "");
  }
  if (fit.hop) {
    fmt::format_to(
        out, "  link   {:.2f} us, {:.1f} GB/s on a hop of the ring{}\n",
        fit.hop->latency_seconds * 1e6, fit.hop->bytes_per_second / 1e9,
        calibration.effective() ? " (effective: several hosts, no speed of one link)" : "");
  }
  text += refusals_text(fit.refusals);
}

std::string to_text(const Calibration& calibration) {
  std::string text;
  const auto out = std::back_inserter(text);
  const NcclLog& log = calibration.log;
  const auto sizes = std::count_if(log.rows.begin(), log.rows.end(),
                                   [](const NcclRow& row) { return row.bytes == 0; });
  fmt::format_to(out, "{}: {}{}, {} ranks on {} host{}, {} rows of which {} have size 0\n",
                 log.file, name(log.collective), log.collective_named ? "" : " (deduced)",
                 log.ranks == 0 ? "unknown" : std::to_string(log.ranks), log.hosts.size(),
                 log.hosts.size() == 1 ? "" : "s", log.rows.size(), sizes);
  const NcclRow& last = last_row(log);
  if (last.printed_algorithm_gb_per_s && last.printed_bus_gb_per_s) {
    fmt::format_to(out, "  last   {} B: algbw {:.2f} GB/s, busbw {:.2f} GB/s, as printed\n",
                   last.bytes, *last.printed_algorithm_gb_per_s, *last.printed_bus_gb_per_s);
  }
  add_fit(calibration, text);
  fmt::format_to(out, "\n{:>14} {:>12} {:>12} {:>12}\n", "bytes", "time us", "algbw GB/s",
                 "busbw GB/s");
  for (const CurvePoint& point : calibration.fit.curve) {
    fmt::format_to(out, "{:>14} {:>12.6g} {:>12.2f} {:>12}\n", point.bytes, point.seconds * 1e6,
                   point.algorithm_bytes_per_second / 1e9,
                   point.bus_bytes_per_second
                       ? fmt::format("{:.2f}", *point.bus_bytes_per_second / 1e9)
                       : "-");
  }
  if (const OrderedJson curve = measured(calibration); !curve.is_null()) {
    fmt::format_to(
        out, "\nmeasured curve for a spec, in \"cluster\":\n\"collective\": {{\"measured\": {}}}\n",
        curve.dump());
  }
  if (const OrderedJson cluster = fitted_cluster(calibration); !cluster.is_null()) {
    const std::string part = cluster.dump();
    fmt::format_to(out, "\nalpha-beta fit for a spec, in \"cluster\"{}:\n{}\n",
                   calibration.effective() ? " (effective)" : "", part.substr(1, part.size() - 2));
  }
  return text;
}

}  // namespace

CalibratedFile calibrate_nccl_tests(const TextFile& file) {
  NcclLog log = read_nccl_log(file);
  LinkFit fit = fit_link(log);
  const Calibration calibration{std::move(log), std::move(fit)};
  return {to_json(calibration), to_text(calibration)};
}

}  // namespace cohort
