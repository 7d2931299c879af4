// One real run as plain, resolved values: what the group generator must know of it. One policy, one
// seed. Built by experiments/ from the same cell as a simulation's scenario.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "policies/registry.h"
#include "policies/topology.h"
#include "traces/stragglers.h"
#include "training/training_plan.h"

namespace cohort {

enum class OnLoss : std::uint8_t { Fail, Continue };

struct RunSetup {
  const PolicyEntry* policy = nullptr;
  Options options;          // resolved
  Topology topology{1, 1};  // servers included
  std::vector<Time> base;   // compute time of each worker's step without slowdown
  std::vector<StragglerSpec> stragglers;
  // fp32 numbers that are averaged: payload bytes / 4, rounded up; with training no fewer than the
  // model's parameters, and as many again where momentum is averaged.
  std::uint64_t entries = 0;
  std::optional<std::uint64_t> steps_per_worker;
  std::optional<std::uint64_t> total_steps;
  std::optional<Time> seconds;
  std::uint64_t seed = 1;
  std::uint32_t communicator_cache = 256;  // member lists per worker
  bool verify = false;
  OnLoss on_loss = OnLoss::Fail;
  std::shared_ptr<const TrainingPlan> training;  // null: steps are emulated
  std::uint32_t plan = 0;                        // what ranks ask for it by: RankOptions::plans
};

}  // namespace cohort
