// `cohort simulate SPEC`: the base scenario of a spec, every policy and seed; a table, JSON, or
// files.
#pragma once

#include <string>

#include "cli/spec_arguments.h"

namespace cohort {

struct SimulateArguments {
  SpecArguments spec;
  bool json = false;
  bool timeline = false;
  std::string out;  // empty: a table or JSON alone
};

// An exit code (cli/exit_codes.h).
[[nodiscard]] int simulate_spec(const SimulateArguments& arguments);

}  // namespace cohort
