// `cohort policies [NAME]`: what policies there are, with every option, its default and its source;
// mixing matrices and rates.
#pragma once

#include <CLI/CLI.hpp>

namespace cohort {

// The command sets `exit_code` when it ran.
void add_policies(CLI::App& app, int& exit_code);

}  // namespace cohort
