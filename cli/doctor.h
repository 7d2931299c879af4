// `cohort doctor`: what this machine can do, and what to install for the rest.
#pragma once

namespace cohort {

// An exit code (cli/exit_codes.h).
[[nodiscard]] int examine_machine();

}  // namespace cohort
