// `cohort calibrate FILE...`: what files of measurements show about links, steps and machines, and
// the parts of a spec that follow; which kinds there are: traces/file_kind.h. With `--measure`: see
// cli/calibrate_measure.h.
#pragma once

#include <filesystem>
#include <vector>

namespace cohort {

struct CalibrateArguments {
  std::vector<std::filesystem::path> files;
  bool measure = false;  // instead of reading files
  bool json = false;
};

// An exit code (cli/exit_codes.h).
[[nodiscard]] int calibrate(const CalibrateArguments& arguments);

}  // namespace cohort
