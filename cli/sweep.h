// `cohort sweep SPEC --out DIR`: every cell of a spec, policy and seed, into a directory of
// results; resumable.
#pragma once

#include <string>

#include "cli/spec_arguments.h"

namespace cohort {

struct SweepArguments {
  SpecArguments spec;
  std::string out;
};

// An exit code (cli/exit_codes.h).
[[nodiscard]] int sweep_spec(const SweepArguments& arguments);

}  // namespace cohort
