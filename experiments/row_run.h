// Computes one row: simulates, and turns what goes wrong in the simulation into a row that says so.
#pragma once

#include <atomic>
#include <string>

#include "experiments/row_text.h"
#include "sim/scenario.h"

namespace cohort {

// Thrown when `stop` turned true: the row is abandoned.
struct Interrupted {};

struct FinishedRow {
  std::string text;  // a JSON object, one line
  bool failed = false;
};

// `stop` may be null. A ContractError or InputError of the simulation ends in a failed row.
[[nodiscard]] FinishedRow run_row(const Scenario& scenario, const std::atomic<bool>* stop,
                                  const SimulateOptions& options = {});

}  // namespace cohort
