// The resolved values of a cell as JSON, in base units named by the keys: for the manifest, and, as
// text, for the fingerprint that names a row. Two specs that mean the same resolve to the same
// text.
#pragma once

#include "experiments/cell.h"
#include "experiments/spec_json.h"

namespace cohort {

// Everything but policies, seeds and `run`. Lists of equal values are written as that value.
[[nodiscard]] Json resolved_json(const Cell& cell);

[[nodiscard]] Json resolved_json(const RunSpec& run);

// Kind, label and all options.
[[nodiscard]] Json resolved_json(const PolicyChoice& policy);

[[nodiscard]] Json resolved_json(const OptionValue& value);  // times in ns

}  // namespace cohort
