// `cohort calibrate LOG...`: what nccl-tests logs show about the links, as a table and as parts of
// a spec.
#pragma once

#include <CLI/CLI.hpp>

namespace cohort {

// The command sets `exit_code` when it ran.
void add_calibrate(CLI::App& app, int& exit_code);

}  // namespace cohort
