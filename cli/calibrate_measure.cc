#include "cli/calibrate_measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/error_report.h"
#include "cli/exit_codes.h"
#include "experiments/measured_cluster.h"
#include "experiments/rank_layout.h"
#include "experiments/spec_json.h"
#include "policies/errors.h"
#include "runtime/measurement.h"
#include "runtime/mpi_job.h"

namespace cohort {
namespace {

using Nodes = std::vector<std::vector<std::uint32_t>>;

// The ranks of each host.
Nodes nodes_of(const std::vector<std::string>& hosts) {
  const auto layout = lay_out(hosts, 0);
  Nodes nodes;
  auto rank = layout.workers.begin();
  for (const auto count : layout.workers_per_host) {
    nodes.emplace_back(rank, rank + count);
    rank += count;
  }
  return nodes;
}

// While rank 0 fits the model.
constexpr std::chrono::seconds kFitLimit{60};

double milliseconds(double seconds) { return seconds * 1e3; }

void print_text(const std::vector<PatternResult>& results, const MeasuredCluster& fitted) {
  fmt::print("{:<34} {:>7} {:>9} {:>10} {:>8} {:>6} {:>11}\n", "pattern", "groups", "bytes",
             "median ms", "spread %", "busy %", "model ms");
  for (const auto& result : results)
    for (const auto& timing : result.timings) {
      const auto check = std::ranges::find_if(fitted.checks, [&](const PatternCheck& each) {
        return each.pattern == result.pattern.name && each.bytes == timing.bytes;
      });
      fmt::print("{:<34} {:>7} {:>9} {:>10.3f} {:>8.0f} {:>6.0f} {:>11}\n", result.pattern.name,
                 result.pattern.groups.size(), timing.bytes, milliseconds(timing.seconds),
                 timing.spread * 100, timing.busy * 100,
                 check == fitted.checks.end()
                     ? "-"
                     : fmt::format("{:.3f}", milliseconds(check->predicted_seconds)));
    }
  const std::string cluster = fitted.spec.dump(2);
  fmt::print("\nfor a spec:\n\"cluster\": {}\n", cluster);
}

void print_json(const std::vector<PatternResult>& results, const MeasuredCluster& fitted) {
  OrderedJson patterns = OrderedJson::array();
  for (const auto& result : results) {
    OrderedJson timings = OrderedJson::array();
    for (const auto& timing : result.timings)
      timings.push_back({{"bytes", timing.bytes},
                         {"seconds", timing.seconds},
                         {"spread", timing.spread},
                         {"busy", timing.busy},
                         {"lead", timing.lead},
                         {"repeats", timing.repeats}});
    patterns.push_back({{"pattern", result.pattern.name},
                        {"ranks", result.pattern.groups},
                        {"create_seconds", result.create_seconds},
                        {"timings", std::move(timings)}});
  }
  OrderedJson checks = OrderedJson::array();
  for (const auto& check : fitted.checks)
    checks.push_back({{"pattern", check.pattern},
                      {"bytes", check.bytes},
                      {"measured_seconds", check.measured_seconds},
                      {"predicted_seconds", check.predicted_seconds}});
  const OrderedJson all{{"cluster", fitted.spec},
                        {"patterns", std::move(patterns)},
                        {"checks", std::move(checks)},
                        {"warnings", fitted.warnings}};
  fmt::print("{}\n", all.dump(2));
}

// Exit code.
int measure_and_print(MpiJob& job, bool json) {
  const auto nodes = nodes_of(job.hosts());
  const auto results = measure(job.backend(), job.rank(), job.size(), patterns(nodes));
  if (job.rank() != 0) return kDone;
  const auto cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  const auto fitted = fit_cluster(results, nodes, cpus);
  for (const auto& warning : fitted.warnings) say(warning);
  json ? print_json(results, fitted) : print_text(results, fitted);
  std::fflush(stdout);
  return kDone;
}

}  // namespace

int calibrate_by_measuring(bool json) {
  if (!MpiJob::launched())
    throw InputError("--measure",
                     "this is a single process; allowed: mpirun -np N cohort calibrate --measure");
  MpiJob job;
  try {
    return job.leave(measure_and_print(job, json), kFitLimit);
  } catch (...) {
    MpiJob::quit(report_current_error());  // the others may still be measuring
  }
}

}  // namespace cohort
