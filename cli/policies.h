// `cohort policies [NAME]`: what policies there are, with every option, its default and its source;
// mixing matrices and rates.
#pragma once

#include <cstdint>
#include <string>

namespace cohort {

struct PoliciesArguments {
  std::string name;  // empty: all
  bool json = false;
  bool mixing = false;
  std::uint32_t workers = 16;
  std::uint32_t per_node = 4;
};

// An exit code (cli/exit_codes.h).
[[nodiscard]] int list_policies(const PoliciesArguments& arguments);

}  // namespace cohort
