// `cohort doctor`: what this machine can do, and what to install for the rest.
#pragma once

#include <CLI/CLI.hpp>

namespace cohort {

// The command sets `exit_code` when it ran.
void add_doctor(CLI::App& app, int& exit_code);

}  // namespace cohort
