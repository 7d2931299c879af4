#include "experiments/sweep_plan.h"

#include <fmt/format.h>

#include "experiments/fingerprint.h"
#include "experiments/resolved.h"
#include "policies/errors.h"

namespace cohort {
namespace {

void add_rows(const Cell& cell, std::uint32_t number, std::string_view circumstances,
              std::vector<PlannedRow>& rows) {
  const auto of_cell = Fingerprint().add(resolved_json(cell).dump()).add(circumstances);
  for (std::uint32_t policy = 0; policy < cell.policies.size(); ++policy) {
    const auto text =
        resolved_json(cell.policies[policy]).dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto of_policy = Fingerprint(of_cell).add(text);
    for (const auto seed : cell.seeds) {
      const auto key = Fingerprint(of_policy).add(fmt::format_int(seed).c_str()).value();
      rows.push_back({.key = key, .seed = seed, .cell = number, .policy = policy});
    }
  }
}

}  // namespace

std::vector<PlannedRow> plan_rows(const Experiment& experiment, Cells cells,
                                  std::string_view circumstances) {
  std::vector<PlannedRow> rows;
  if (cells == Cells::BaseOnly) {
    add_rows(experiment.base(), 0, circumstances, rows);
    return rows;
  }
  for (std::uint32_t cell = 0; cell < experiment.axes().cells(); ++cell) {
    add_rows(experiment.cell(cell), cell, circumstances, rows);
    if (rows.size() > kMostRows) {
      throw InputError(experiment.file().string(),
                       fmt::format("asks for more than {} rows", kMostRows));
    }
  }
  return rows;
}

}  // namespace cohort
