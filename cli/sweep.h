// `cohort sweep SPEC --out DIR`: every cell of a spec, policy and seed, into a directory of
// results; resumable.
#pragma once

#include <CLI/CLI.hpp>

namespace cohort {

// The command sets `exit_code` when it ran.
void add_sweep(CLI::App& app, int& exit_code);

}  // namespace cohort
