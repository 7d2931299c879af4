// `cohort trace import|show|fit`: recorded compute times converted, summarised, fitted.
#pragma once

#include <filesystem>
#include <vector>

namespace cohort {

struct TraceArguments {
  std::vector<std::filesystem::path> files;  // of one recording (traces/recording.h)
  std::filesystem::path out;                 // of import
};

// Exit codes (cli/exit_codes.h).
[[nodiscard]] int import_trace(const TraceArguments& arguments);
[[nodiscard]] int show_trace(const TraceArguments& arguments);
[[nodiscard]] int fit_and_print(const TraceArguments& arguments);

}  // namespace cohort
