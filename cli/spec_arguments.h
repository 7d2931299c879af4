// The arguments that every command on a spec shares.
#pragma once

#include <string>
#include <vector>

namespace cohort {

struct SpecArguments {
  std::string spec;
  std::vector<std::string> sets;  // POINTER=VALUE
  unsigned jobs = 1;
};

}  // namespace cohort
