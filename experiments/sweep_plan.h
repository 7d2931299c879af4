// Every row that a spec asks for, in canonical order: by cell, then policy, then seed. Making the
// plan validates every cell.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "experiments/experiment.h"

namespace cohort {

struct PlannedRow {
  std::uint64_t key =
      0;  // fingerprint of all that the row depends on: resolved cell, policy, label, seed
  std::uint64_t seed = 0;
  std::uint32_t cell = 0;
  std::uint32_t policy = 0;
};

enum class Cells : std::uint8_t { All, BaseOnly };

// Throws InputError with file, place and cell; also for more than kMostRows rows.
inline constexpr std::size_t kMostRows = 10'000'000;
// `circumstances`: what rows depend on beside the spec (of real runs: backend and hosts).
[[nodiscard]] std::vector<PlannedRow> plan_rows(const Experiment& experiment, Cells cells,
                                                std::string_view circumstances = {});

}  // namespace cohort
