// `workload.training` and `measure` of a cell as JSON, resolved: for the manifest and the
// fingerprints of rows (experiments/resolved.h). Files are named by their content, not their paths.
#pragma once

#include "experiments/cell.h"
#include "experiments/spec_json.h"

namespace cohort {

// Of a cell with a plan.
[[nodiscard]] Json resolved_json(const CellTraining& training);

}  // namespace cohort
