// Straggler models fitted to a recorded trace: compute time, workers slow throughout, steps slow
// now and then, jitter. Simple on purpose, and silent where the recording cannot show it: `notes`
// say why.
//
//   fixed      workers whose median is above kSlowRatio times the typical one
//   bernoulli  steps above kSlowStep times their worker's median; burst instead where such steps
//   follow
//              each other at least twice as often as chance would have it
//   jitter     lognormal: standard deviation of log(time / worker's median) over the other steps
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/compute_trace.h"
#include "traces/stragglers.h"

namespace cohort {

inline constexpr double kSlowStep = 1.5;

struct TraceFit {
  Time compute{};  // mean of a step without slowdown
  std::vector<Fixed> fixed;
  std::optional<Bernoulli> bernoulli;
  std::optional<Burst> burst;
  std::optional<Lognormal> jitter;
  std::vector<std::string> notes;
};

[[nodiscard]] TraceFit fit_trace(const ComputeTrace& trace);

}  // namespace cohort
