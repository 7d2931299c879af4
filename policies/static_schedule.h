// `static`: a fixed schedule of groups, indexed by each worker's own step number modulo its period
// ([SEMANTICS 2]).
//
// Default: the published table of period 4 for any number of workers per node, nodes uneven or not;
// a local rank that a node does not have takes no part. Or `phases`: lists of groups of worker
// numbers. A worker that a phase does not name, or that is alone in its group, synchronises with
// nobody there. A worker that leaves or is lost shrinks its groups.
#pragma once

#include "policies/registry.h"

namespace cohort {

[[nodiscard]] PolicyEntry static_entry();

// The published table: phases 0 to 3, without groups of one.
[[nodiscard]] Phases published_schedule(const Topology& topology);

}  // namespace cohort
