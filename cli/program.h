// Runs another program and waits for it.
#pragma once

#include <string>
#include <vector>

namespace cohort {

inline constexpr int kCannotRun = 127;

enum class Output : bool { Shared, Discarded };

// The program's exit code; 128 + signal; kCannotRun when it is not there. command[0] is looked up
// in PATH.
[[nodiscard]] int run_program(const std::vector<std::string>& command,
                              Output output = Output::Shared);

// Whether a program of that name is in PATH.
[[nodiscard]] bool has_program(const std::string& name);

// The python3 that has the packages of the figures: the first in PATH, or the system's own; without
// such, "python3".
[[nodiscard]] std::string python_with_plots();

// Whether `python` can import the module.
[[nodiscard]] bool has_python_module(const std::string& python, const std::string& module);

}  // namespace cohort
