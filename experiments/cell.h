// One cell of a sweep, resolved: every value is there, checked, and in the simulator's units. A
// cell has several policies and seeds; each pair of them is one scenario and one row of results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run_spec.h"
#include "policies/registry.h"
#include "sim/scenario.h"
#include "traces/stragglers.h"

namespace cohort {

inline constexpr std::uint64_t kMostSteps = 1'000'000'000'000'000;  // of a stop rule

struct PolicyChoice {
  const PolicyEntry* entry = nullptr;
  Options options;  // resolved
  std::string label;
};

// `measure.tune`: every policy gets the candidates and the worker-steps of one full run of each.
struct TuneSpec {
  std::vector<double> learning_rates;
  std::vector<double> momenta;
  std::uint64_t budget = 0;
};

// `workload.training` and `measure`. Without a plan steps only take time.
struct CellTraining {
  std::shared_ptr<const TrainingPlan> plan;
  std::size_t parameters = 0;          // of the model on that data
  std::uint64_t data_fingerprint = 0;  // of the samples; 0: the model needs none
  std::optional<TuneSpec> tune;

  explicit operator bool() const { return plan != nullptr; }
};

// What a policy trains with in place of the spec's own values.
struct Rates {
  double learning_rate = 0;
  double momentum = 0;
};

struct Cell {
  ClusterSpec cluster;
  WorkloadSpec workload;
  std::vector<StragglerSpec> stragglers;
  std::vector<LinkStraggler> link_stragglers;
  std::vector<PolicyChoice> policies;
  StopRule stop;
  CellTraining training;
  std::optional<std::uint64_t> warmup_steps;
  std::vector<std::uint64_t> seeds;
  std::vector<std::uint64_t>
      trace_fingerprints;  // of the contents of recorded traces, in the spec's order
  RunSpec run;             // of real runs

  [[nodiscard]] std::uint32_t workers() const {
    return static_cast<std::uint32_t>(cluster.compute_factor.size());
  }
  [[nodiscard]] Scenario scenario(const PolicyChoice& policy, std::uint64_t seed,
                                  const std::optional<Rates>& rates = {}) const;
};

}  // namespace cohort
