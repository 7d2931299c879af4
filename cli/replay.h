// `cohort replay PATH`: feeds a recorded event log to fresh policies; identical actions, or the
// first difference of each run.
#pragma once

#include <filesystem>

namespace cohort {

// An exit code (cli/exit_codes.h): 1 when a run differs.
[[nodiscard]] int replay_log(const std::filesystem::path& path);

}  // namespace cohort
