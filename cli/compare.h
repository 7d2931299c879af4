// `cohort compare SIM REAL`: prediction error per policy and per phase, of two result directories.
#pragma once

#include <string>

namespace cohort {

struct CompareArguments {
  std::string simulated;
  std::string real;
  bool json = false;
};

// An exit code (cli/exit_codes.h).
[[nodiscard]] int compare(const CompareArguments& arguments);

}  // namespace cohort
