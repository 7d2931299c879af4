// Computes one row: simulates, and turns what goes wrong in the simulation into a row that says so.
#pragma once

#include <atomic>
#include <memory>
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

// simulate(), which throws Interrupted at the next event once `stop` is true; it may be null.
[[nodiscard]] ResultRow simulate_until(const Scenario& scenario, const std::atomic<bool>* stop,
                                       const SimulateOptions& options = {});

// One row's scenario, and where its rates come from.
struct RowScenario {
  Scenario scenario;
  std::shared_ptr<const Tuning> tuning{};  // null: the spec
};

// A ContractError or InputError of the simulation, or a tuning that found nothing, ends in a failed
// row.
[[nodiscard]] FinishedRow run_row(const RowScenario& row, const std::atomic<bool>* stop,
                                  const SimulateOptions& options = {});

}  // namespace cohort
