// Reads one scenario of a spec: everything but `name` and `sweep`. The keys are those of docs and
// `cohort` --help; every value is checked before anything is allocated for it.
#pragma once

#include "experiments/cell.h"
#include "experiments/spec_files.h"
#include "experiments/spec_json.h"

namespace cohort {

// Throws InputError with the JSON pointer of what is wrong.
[[nodiscard]] Cell read_cell(const Json& document, SpecFiles& files);

}  // namespace cohort
