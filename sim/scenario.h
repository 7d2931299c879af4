// One simulation as plain, resolved values: cluster, workload, stragglers, one policy, stop rule,
// one seed.
//
// Built by experiments/ from a spec; a C++ user can fill one by hand. simulate() is the whole of
// the simulator's public face.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policies/checked_policy.h"
#include "policies/registry.h"
#include "sim/cluster.h"
#include "traces/result_row.h"
#include "traces/stragglers.h"
#include "training/training_plan.h"

namespace cohort {

class Timeline;  // sim/timeline.h

struct StopRule {  // the first reached ends the run; at least one is given
  std::optional<std::uint64_t> steps_per_worker{};
  std::optional<std::uint64_t> total_steps{};
  std::optional<Time> seconds{};
  std::optional<double> loss{};  // of the mean model, with training; beside one of the others
};

struct Loss {  // failure injection: the worker is lost at that instant
  Time at{};
  WorkerId worker{};
};

struct Scenario {
  ClusterSpec cluster;
  WorkloadSpec workload;
  std::vector<StragglerSpec> stragglers;
  std::vector<LinkStraggler> link_stragglers;
  const PolicyEntry* policy = nullptr;
  Options options;  // resolved
  std::string label;
  StopRule stop;
  std::optional<std::uint64_t> warmup_steps;  // none: the default of SEMANTICS 1
  std::uint64_t seed = 1;
  std::vector<Loss> losses;
  std::shared_ptr<const TrainingPlan> training;  // null: steps only take time
};

// One line of a run's own compute trace: what was drawn, and how long it took (interference
// stretches it).
struct StepRecord {
  WorkerId worker{};
  std::uint64_t step = 0;
  Time drawn{};
  Time stretched{};
};

// With the servers that the policy needs.
[[nodiscard]] Topology topology_of(const Scenario& scenario);

// Compute time of each worker's step without slowdown.
[[nodiscard]] std::vector<Time> base_times(const Scenario& scenario);

struct SimulateOptions {
  ActionLog* log = nullptr;                  // gets every event and action
  Timeline* timeline = nullptr;              // gets every interval of every worker
  std::vector<StepRecord>* steps = nullptr;  // gets every finished computation
  unsigned threads = 1;                      // that compute local steps; changes no result
  bool double_precision = false;  // trains in double instead of float: for checks of the arithmetic
  // Gets the parameters that the last point of the learning curve shows.
  std::vector<double>* model = nullptr;
};

// Throws ContractError when a policy breaks a promise, InputError when options do not fit.
[[nodiscard]] ResultRow simulate(const Scenario& scenario, const SimulateOptions& options = {});

}  // namespace cohort
