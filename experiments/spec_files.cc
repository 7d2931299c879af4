#include "experiments/spec_files.h"

#include <fmt/format.h>

#include "experiments/fingerprint.h"
#include "policies/errors.h"

namespace cohort {
namespace {

std::uint64_t fingerprint_of(const ComputeTrace& trace) {
  Fingerprint fingerprint;
  fingerprint.add(fmt::format("{}x{}", trace.workers(), trace.steps()));
  for (std::uint32_t worker = 0; worker < trace.workers(); ++worker) {
    for (std::uint64_t step = 0; step < trace.steps(); ++step) {
      fingerprint.add(fmt::format_int(trace.at(worker, step).count()).c_str()).add(",");
    }
  }
  return fingerprint.value();
}

}  // namespace

MeasuredCurve read_curve(const SpecNode& list) {
  constexpr double kMostBytes = 1e18;
  constexpr double kMostGigabytesPerSecond = 1e9;
  constexpr std::string_view kPair = "pairs [bytes, bus bandwidth in GB/s]";
  MeasuredCurve curve;
  const auto size = list.size(kPair);
  if (size == 0) list.refuse(fmt::format("at least one of the {}", kPair));
  for (std::size_t i = 0; i < size; ++i) {
    const auto pair = list.at(i);
    if (pair.size(kPair) != 2) pair.refuse("a pair [bytes, bus bandwidth in GB/s]");
    const double bytes = pair.at(0).positive_number(kMostBytes);
    const double gigabytes_per_second = pair.at(1).positive_number(kMostGigabytesPerSecond);
    if (!curve.bus_bandwidth.empty() && bytes <= curve.bus_bandwidth.back().first) {
      pair.at(0).refuse("sizes that increase strictly");
    }
    curve.bus_bandwidth.emplace_back(bytes, gigabytes_per_second * 1e9);
  }
  return curve;
}

std::filesystem::path SpecFiles::path_of(const SpecNode& name) const {
  const auto& text = name.text("the name of a file, relative to the spec");
  if (text.empty() || text.find('\0') != std::string::npos) name.refuse("the name of a file");
  return directory_ / text;
}

SpecFiles::Trace SpecFiles::trace(const SpecNode& name) {
  const auto path = path_of(name);
  const std::scoped_lock lock(mutex_);
  const auto known = traces_.find(path);
  if (known != traces_.end()) return known->second;
  try {
    Trace trace{std::make_shared<const ComputeTrace>(read_compute_trace(path)), 0};
    trace.fingerprint = fingerprint_of(*trace.times);
    return traces_.emplace(path, std::move(trace)).first->second;
  } catch (const InputError& error) {
    name.complain(error.what());
  }
}

MeasuredCurve SpecFiles::curve(const SpecNode& name) {
  const auto path = path_of(name);
  const std::scoped_lock lock(mutex_);
  const auto known = curves_.find(path);
  if (known != curves_.end()) return known->second;
  try {
    const Json document = read_json_file(path);
    const SpecNode root(document);
    const auto curve = read_curve(document.is_object() ? root.need("measured") : root);
    return curves_.emplace(path, curve).first->second;
  } catch (const InputError& error) {
    const bool has_file = error.where().starts_with(path.string());
    name.complain(has_file ? error.what() : fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace cohort
