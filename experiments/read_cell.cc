#include "experiments/read_cell.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "experiments/read_cluster.h"
#include "experiments/read_measure.h"
#include "experiments/read_policies.h"
#include "experiments/read_run.h"
#include "experiments/read_stragglers.h"
#include "experiments/read_training.h"
#include "experiments/read_workload.h"

namespace cohort {
namespace {

StopRule read_stop(const SpecNode& node) {
  constexpr Time kLongestRun = std::chrono::hours(24 * 365 * 100);
  node.only_keys({"steps_per_worker", "total_steps", "seconds", "loss"});
  StopRule stop;
  if (const auto steps = node.find("steps_per_worker"))
    stop.steps_per_worker = steps->count(1, kMostSteps);
  if (const auto steps = node.find("total_steps")) stop.total_steps = steps->count(1, kMostSteps);
  if (const auto seconds = node.find("seconds")) stop.seconds = seconds->positive_time(kLongestRun);
  if (!stop.steps_per_worker && !stop.total_steps && !stop.seconds)
    node.refuse("at least one of steps_per_worker, total_steps, seconds");
  if (const auto loss = node.find("loss")) stop.loss = read_loss(*loss);
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

void read_stragglers_of(const SpecNode& spec, SpecFiles& files, Cell& cell,
                        WorkloadDefaults& defaults) {
  const auto list = spec.find("stragglers");
  if (!list) return;
  const StragglerLimits limits{
      .workers = cell.workers(),
      .nodes = static_cast<std::uint32_t>(cell.cluster.gpus_per_node.size()),
      .has_nics = cell.cluster.links.empty(),
      .steps_per_worker = cell.stop.steps_per_worker};
  auto stragglers = read_stragglers(*list, limits, files);
  defaults.compute = stragglers.recorded_median;
  cell.stragglers = std::move(stragglers.compute);
  cell.link_stragglers = std::move(stragglers.links);
  cell.trace_fingerprints = std::move(stragglers.trace_fingerprints);
}

void refuse_without_training(const std::optional<SpecNode>& node) {
  if (node) node->complain("says nothing without training; the key /workload/training is missing");
}

void read_training_of(const SpecNode& spec, SpecFiles& files, Cell& cell,
                      WorkloadDefaults& defaults) {
  const auto workload = spec.need("workload");
  const auto stop = spec.need("stop");
  const auto measure = spec.find("measure");
  const auto training =
      workload.json().is_object() ? workload.find("training") : std::optional<SpecNode>{};
  if (!training) {
    refuse_without_training(measure);
    refuse_without_training(stop.find("loss"));
    return;
  }
  cell.training = read_training(*training, cell.workers(), files);
  defaults.payload = 4.0 * static_cast<double>(cell.training.parameters);
  auto plan = std::make_shared<TrainingPlan>(*cell.training.plan);
  auto read = read_measure(measure, cell.stop, plan->training.sgd, cell.workers());
  plan->measure = read.measure;
  cell.training.tune = std::move(read.tune);
  cell.training.plan = std::move(plan);
}

}  // namespace

Cell read_cell(const Json& document, SpecFiles& files) {
  const SpecNode spec(document);
  spec.only_keys({"name", "cluster", "workload", "stragglers", "policies", "stop", "warmup_steps",
                  "seeds", "measure", "run", "sweep"});
  if (const auto name = spec.find("name")) static_cast<void>(name->name());
  Cell cell;
  const auto cluster = spec.need("cluster");
  cell.cluster = read_cluster(cluster, files);
  cell.stop = read_stop(spec.need("stop"));
  WorkloadDefaults defaults;
  read_stragglers_of(spec, files, cell, defaults);
  read_training_of(spec, files, cell, defaults);
  cell.workload = read_workload(spec.need("workload"), defaults);
  cell.policies = read_policies(spec.need("policies"), cell.cluster);
  if (const auto warmup = spec.find("warmup_steps"))
    cell.warmup_steps = warmup->count(0, kMostSteps);
  cell.seeds = {1};
  if (const auto seeds = spec.find("seeds")) cell.seeds = read_seeds(*seeds);
  if (const auto run = spec.find("run")) cell.run = read_run(*run);
  return cell;
}

}  // namespace cohort
