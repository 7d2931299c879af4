// `cohort calibrate LOG...`: what nccl-tests logs show about the links, as a table and as parts of
// a spec. With `--measure`: see cli/calibrate_measure.h.
#pragma once

#include <filesystem>
#include <vector>

namespace cohort {

struct CalibrateArguments {
  std::vector<std::filesystem::path> logs;
  bool measure = false;  // instead of reading logs
  bool json = false;
};

// An exit code (cli/exit_codes.h).
[[nodiscard]] int calibrate(const CalibrateArguments& arguments);

}  // namespace cohort
