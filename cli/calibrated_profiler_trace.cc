#include <fmt/format.h>

#include <iterator>
#include <string>

#include "cli/calibrated_file.h"
#include "experiments/spec_json.h"
#include "traces/profiler_trace.h"

namespace cohort {
namespace {

double microseconds(Time time) { return static_cast<double>(time.count()) / 1e3; }

std::vector<std::string> refusals(const ProfilerTrace& trace) {
  return {
      fmt::format("other workers: a file is of one rank{}; cohort trace takes one file per rank",
                  trace.rank ? "" : ", which this one does not name"),
      "computing alone: a step is a whole one, communication and waiting for others included"};
}

OrderedJson to_json(const ProfilerTrace& trace) {
  OrderedJson steps = OrderedJson::array();
  for (const ProfilerStep& step : trace.steps) {
    steps.push_back({{"step", step.number}, {"duration_us", microseconds(step.time)}});
  }
  return {{"kind", "profiler-trace"},
          {"file", trace.file},
          {"rank", trace.rank ? OrderedJson(*trace.rank) : OrderedJson(nullptr)},
          {"steps", std::move(steps)},
          {"refused", refusals(trace)},
          {"warnings", OrderedJson::array()}};
}

std::string to_text(const ProfilerTrace& trace) {
  std::string text = fmt::format("{}: a profiler's trace of {}, {} step{}\n", trace.file,
                                 trace.rank ? fmt::format("rank {}", *trace.rank) : "one process",
                                 trace.steps.size(), trace.steps.size() == 1 ? "" : "s");
  text += refusals_text(refusals(trace));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{:>14} {:>14}\n", "step", "time us");
  for (const ProfilerStep& step : trace.steps) {
    fmt::format_to(out, "{:>14} {:>14}\n", step.number, microseconds(step.time));
  }
  return text;
}

}  // namespace

CalibratedFile calibrate_profiler_trace(const TextFile& file) {
  const ProfilerTrace trace = read_profiler_trace(file);
  return {to_json(trace), to_text(trace)};
}

}  // namespace cohort
