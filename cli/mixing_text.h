// Mixing matrix and rates of a policy as text and JSON, for `cohort policies NAME --mixing`.
#pragma once

#include <string>

#include "experiments/row_text.h"
#include "training/mixing_report.h"

namespace cohort {

[[nodiscard]] std::string mixing_text(const MixingReport& report);
[[nodiscard]] OrderedJson mixing_json(const MixingReport& report);

}  // namespace cohort
