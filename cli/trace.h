// `cohort trace import|show|fit`: recorded compute times converted, summarised, fitted.
#pragma once

#include <CLI/CLI.hpp>

namespace cohort {

// The command sets `exit_code` when it ran.
void add_trace(CLI::App& app, int& exit_code);

}  // namespace cohort
