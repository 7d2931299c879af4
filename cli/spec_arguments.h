// The arguments that every command on a spec shares.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cohort {

struct SpecArguments {
  std::string spec;
  std::vector<std::string> sets;
  unsigned jobs = 1;  // as many as there are CPUs, unless given

  void add_to(CLI::App& command);
};

}  // namespace cohort
