// Whole jobs over the nccl backend: the group generator here, its ranks as processes.
#pragma once

#include <string>
#include <vector>

#include "runtime/job_server.h"
#include "tests/runtime/nccl/ranks.h"

namespace cohort {

struct JobOutcome {
  std::vector<RunRecord> records;  // of the runs
  std::string complaints;          // of the ranks
};

// `runs` times the same setup, on as many ranks as it needs, with its training; `job.ranks` means
// nothing.
[[nodiscard]] JobOutcome run_job(const Job& job, const RunSetup& setup, int runs = 1);
// On the stand-in.
[[nodiscard]] JobOutcome run_job(const RunSetup& setup, int runs = 1,
                                 const Environment& environment = {});

}  // namespace cohort
