// Times of collectives among the ranks of a job, alone and side by side, inside and across nodes:
// what a cluster model is fitted to (experiments/measured_cluster.h).
//
// A *pattern* is one or several disjoint groups of ranks that communicate at once. Each pattern and
// size is warmed up, then repeated; every repeat begins behind a barrier of its ranks, and its time
// is that of the slowest rank from its own start to its own end. Results of the collectives are
// checked; a wrong one is an EnvironmentError, as is one that takes over a minute. A size that
// takes ten, because a call waits for a rank that is stopped, ends the process with exit code 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace cohort {

struct Pattern {
  enum class Kind : std::uint8_t {
    AllReduce,
    Exchange,  // pairs, both ways at once
    Incast,    // all other ranks of the group to its first, at once
    Ping,      // the same, but from the last, which meanwhile exchanges a number with the first
  };
  std::string name;  // "across nodes", "pairs inside a node, side by side", ...
  Kind kind = Kind::AllReduce;
  std::vector<std::vector<std::uint32_t>> groups;  // ranks
};

struct PatternTiming {
  std::uint64_t bytes = 0;
  double seconds = 0;  // median of the repeats; Ping: of there and back
  double spread = 0;   // (third quartile - first quartile) / median
  double busy = 0;     // share of its CPUs' time that the busiest host was busy meanwhile
  // Incast: by what share of the last one's end the transfers end before it, in the mean; median of
  // the repeats. 0: all together.
  double lead = 0;
  std::uint32_t repeats = 0;
};

struct PatternResult {
  Pattern pattern;
  std::vector<PatternTiming> timings;  // by ascending size
  double create_seconds = 0;           // of the groups' communicators, the slowest rank
};

struct MeasurementOptions {
  std::vector<std::uint64_t> bytes = {4, 4'096, 65'536, 262'144, 1'048'576, 4'194'304};
  std::uint32_t warm_up = 2;
  std::uint32_t least_repeats = 5;
  std::uint32_t most_repeats = 50;
  double seconds_each = 1;  // a size is repeated for about so long, within the numbers above
};

// The patterns that nodes with these ranks allow; `nodes[i]`: the ranks on node i, at least one.
[[nodiscard]] std::vector<Pattern> patterns(const std::vector<std::vector<std::uint32_t>>& nodes);

// Collective: all ranks call it with the same arguments, and all get the same results.
// Where the transport is crowded it sleeps between polls, as ranks do in a run.
[[nodiscard]] std::vector<PatternResult> measure(Backend& backend, std::uint32_t rank,
                                                 std::uint32_t ranks,
                                                 const std::vector<Pattern>& patterns,
                                                 const MeasurementOptions& options = {});

}  // namespace cohort
