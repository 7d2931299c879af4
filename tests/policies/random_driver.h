// A tiny driver that keeps D1 to D7 and is random in everything they leave open.
//
// Compute, transfer and failure delays are small random integers, so ties abound; events of one
// instant come in random order. Workers do a random number of steps up to `most_steps` and leave;
// up to `losses` workers are lost at random times.
#pragma once

#include <string>
#include <vector>

#include "policies/policy.h"
#include "policies/topology.h"

namespace cohort {

struct RandomRun {
  std::uint64_t seed = 1;
  std::uint64_t most_steps = 8;
  std::uint32_t losses = 0;
};

struct RunOutcome {
  std::uint32_t finished = 0;  // workers that did all their steps and left
  std::uint32_t lost = 0;      // workers that were lost
  std::uint64_t synchronisations = 0;
  std::vector<std::string> history;  // every event with its actions, one line each
  bool endless = false;              // given up after far too many events
};

// Feeds `policy` until no event is left.
[[nodiscard]] RunOutcome drive_randomly(Policy& policy, const Topology& topology,
                                        const RandomRun& run);

// One event and its answer, as a line of the history.
[[nodiscard]] std::string line_of(const Event& event, const Actions& actions);

}  // namespace cohort
