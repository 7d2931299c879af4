// The command line: which commands there are, with which options, and what runs them.
//
// The one place that knows the parser (CLI11): commands take their arguments as plain structs.
#pragma once

namespace cohort {

// Parses and runs; an exit code (cli/exit_codes.h). Says on stderr what is wrong with the line.
// Errors of the command itself pass through.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace cohort
