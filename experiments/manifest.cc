#include "experiments/manifest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <thread>

#include "experiments/resolved.h"
#include "experiments/this_host.h"
#include "experiments/version.h"

namespace cohort {
namespace {

Json resolved_base(const Cell& cell) {
  Json resolved = resolved_json(cell);
  resolved["policies"] = Json::array();
  for (const auto& policy : cell.policies) resolved["policies"].push_back(resolved_json(policy));
  resolved["seeds"] = cell.seeds;
  resolved["run"] = resolved_json(cell.run);
  return resolved;
}

}  // namespace

std::string manifest_text(const Experiment& experiment, const RunFacts& facts) {
  OrderedJson manifest{
      {"name", experiment.name()},
      {"command", facts.command},
      {"cohort_version", version()},
      {"compiler", __VERSION__},
      {"spec_file", experiment.file().filename().string()},
      {"finished_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"wall_seconds", facts.wall.count()},
      {"jobs", facts.jobs},
      {"rows", facts.rows},
      {"rows_computed", facts.computed},
      {"rows_failed", facts.failed},
      {"swept", experiment.axes().pointers()},
      {"host", {{"name", host_name()}, {"cpus", std::thread::hardware_concurrency()}}},
      {"spec", experiment.document()},
      {"resolved", resolved_base(experiment.base())}};
  if (!facts.run.is_null()) manifest["run"] = facts.run;
  return manifest.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace cohort
