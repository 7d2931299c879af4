// `mpirun -np N cohort calibrate --measure`: times collectives among the ranks and prints the
// cluster part of a spec that they fit.
#pragma once

namespace cohort {

// `json`: patterns, checks and cluster as JSON. Rank 0 prints. An exit code (cli/exit_codes.h).
[[nodiscard]] int calibrate_by_measuring(bool json);

}  // namespace cohort
