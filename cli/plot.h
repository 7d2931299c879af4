// `cohort plot DIR... --out OUT`: runs the figure scripts (plots/plot.py) on directories of
// results.
#pragma once

#include <CLI/CLI.hpp>

namespace cohort {

// The command sets `exit_code` when it ran.
void add_plot(CLI::App& app, int& exit_code);

}  // namespace cohort
