// Published models by name, as loads: how many parameters a synchronisation moves and, where a
// public source says it, how long a step takes on a GPU. Nothing here is estimated: what has no
// source is not there, and a spec then gives `compute` itself.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "policies/synchronisation.h"

namespace cohort {

struct StepTime {
  std::string_view gpu;
  std::uint32_t batch = 0;  // per GPU
  Time time{};              // forward and backward pass
  std::string_view source;
};

struct NamedModel {
  std::string_view name;
  std::uint64_t parameters = 0;
  std::string_view source;  // of the number of parameters
  std::span<const StepTime> steps;

  [[nodiscard]] double bytes() const { return 4.0 * static_cast<double>(parameters); }  // fp32
};

[[nodiscard]] std::span<const NamedModel> named_models();

}  // namespace cohort
