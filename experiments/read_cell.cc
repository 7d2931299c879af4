#include "experiments/read_cell.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "experiments/read_cluster.h"
#include "experiments/read_policies.h"
#include "experiments/read_run.h"
#include "experiments/read_stragglers.h"

namespace cohort {
namespace {

constexpr std::uint64_t kMostSteps = 1'000'000'000'000'000;

StopRule read_stop(const SpecNode& node) {
  constexpr Time kLongestRun = std::chrono::hours(24 * 365 * 100);
  node.only_keys({"steps_per_worker", "total_steps", "seconds"}, {"loss"});
  StopRule stop;
  if (const auto steps = node.find("steps_per_worker"))
    stop.steps_per_worker = steps->count(1, kMostSteps);
  if (const auto steps = node.find("total_steps")) stop.total_steps = steps->count(1, kMostSteps);
  if (const auto seconds = node.find("seconds")) stop.seconds = seconds->positive_time(kLongestRun);
  if (node.json().empty()) node.refuse("at least one of steps_per_worker, total_steps, seconds");
  return stop;
}

std::vector<std::uint64_t> read_seeds(const SpecNode& list) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto size = list.size("whole numbers");
  if (size == 0) list.refuse("at least one seed");
  std::vector<std::uint64_t> seeds;
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < size; ++i) {
    seeds.push_back(list.at(i).count(0, kLargest));
    if (!seen.insert(seeds.back()).second) list.at(i).refuse("each seed once");
  }
  return seeds;
}

}  // namespace

Cell read_cell(const Json& document, SpecFiles& files) {
  const SpecNode spec(document);
  spec.only_keys({"name", "cluster", "workload", "stragglers", "policies", "stop", "warmup_steps",
                  "seeds", "run", "sweep"},
                 {"measure"});
  if (const auto name = spec.find("name")) static_cast<void>(name->name());
  Cell cell;
  const auto cluster = spec.need("cluster");
  cell.cluster = read_cluster(cluster, files);
  cell.stop = read_stop(spec.need("stop"));
  StragglersOfSpec stragglers;
  if (const auto list = spec.find("stragglers")) {
    const StragglerLimits limits{
        .workers = cell.workers(),
        .nodes = static_cast<std::uint32_t>(cell.cluster.gpus_per_node.size()),
        .has_nics = cell.cluster.links.empty(),
        .steps_per_worker = cell.stop.steps_per_worker};
    stragglers = read_stragglers(*list, limits, files);
  }
  cell.workload = read_workload(spec.need("workload"), stragglers.recorded_median.has_value());
  if (cell.workload.compute == Time{0}) cell.workload.compute = *stragglers.recorded_median;
  cell.stragglers = std::move(stragglers.compute);
  cell.link_stragglers = std::move(stragglers.links);
  cell.trace_fingerprints = std::move(stragglers.trace_fingerprints);
  cell.policies = read_policies(spec.need("policies"), cell.cluster);
  if (const auto warmup = spec.find("warmup_steps"))
    cell.warmup_steps = warmup->count(0, kMostSteps);
  cell.seeds = {1};
  if (const auto seeds = spec.find("seeds")) cell.seeds = read_seeds(*seeds);
  if (const auto run = spec.find("run")) cell.run = read_run(*run);
  return cell;
}

}  // namespace cohort
