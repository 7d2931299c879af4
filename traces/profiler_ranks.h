// The profiler traces of a job's ranks put together to one recording.
#pragma once

#include <vector>

#include "traces/profiler_trace.h"
#include "traces/recording.h"

namespace cohort {

// The steps that all ranks have, as a compute trace: workers in order of their ranks, steps of
// their numbers; the notes say which, and what was left out. Throws InputError when two are of one
// rank, several and one of no rank, or no step is common. ContractError without any.
[[nodiscard]] Recording recording_of(std::vector<ProfilerTrace> ranks);

}  // namespace cohort
