// `cohort simulate SPEC`: the base scenario of a spec, every policy and seed; a table, JSON, or
// files.
#pragma once

#include <CLI/CLI.hpp>

namespace cohort {

// The command sets `exit_code` when it ran.
void add_simulate(CLI::App& app, int& exit_code);

}  // namespace cohort
