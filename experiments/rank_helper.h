// The other ranks' side of a sweep on the ranks of a launcher: they find rank 0, compute the rows
// that it hands out, and leave when it says so (experiments/rank_meeting.h has the lines).
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "experiments/experiment.h"

namespace cohort {

struct HelpOptions {
  std::filesystem::path out;  // of the results, the same as at rank 0; only read
  std::uint32_t rank = 1;
  unsigned jobs = 1;                        // threads, each with a connection of its own
  const std::atomic<bool>* stop = nullptr;  // may be null
};

// Returns when rank 0 has no more to do, or `stop` is true. Throws EnvironmentError when rank 0
// cannot be found within kMeetingLimit, or is lost; InputError when its spec is another than
// this rank's.
void help_sweep(const Experiment& experiment, const HelpOptions& options);

}  // namespace cohort
