// All event interleavings of a small run of one policy, by depth-first search.
//
// From every state each event that the driver may deliver next is tried: ready of a computing
// worker, done or failed of a live synchronisation, a timer, the leaving of a worker with its
// quota, and, while `losses` lasts, the loss of any worker. A state is the memory image of the
// policy (arena.h) and of the world around it; one that was seen is not searched again. States are
// remembered by a 128-bit hash.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "policies/policy.h"
#include "policies/topology.h"

namespace cohort {

struct SearchOptions {
  std::uint8_t steps = 3;  // that each worker does before it leaves
  std::uint8_t losses = 0;
  std::uint64_t most_states = 20'000'000;
};

struct SearchResult {
  std::uint64_t states = 0;
  std::uint64_t finished = 0;  // end states in which nobody waits
  // Number of ways into each kind of trouble; a search goes on behind it elsewhere.
  std::uint64_t conflicts =
      0;  // a worker blocks in two live synchronisations, or before its ready, or is resumed inside
  std::uint64_t deadlocks = 0;  // no event is left, and several workers wait
  std::uint64_t starvations =
      0;                      // no event is left, and one worker waits, all others being through
  bool complete = true;       // false: given up at `most_states`
  std::string first_trouble;  // the events that led to it
};

using PolicyFactory = std::function<std::unique_ptr<Policy>()>;

// At most 6 workers. `make` is called once, and must keep all state of the policy in memory that it
// allocates.
[[nodiscard]] SearchResult search_exhaustively(const PolicyFactory& make, const Topology& topology,
                                               const SearchOptions& options = {});

}  // namespace cohort
