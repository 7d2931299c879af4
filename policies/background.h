// `timing: background` for any blocking policy ([SEMANTICS 1]): a decorator.
//
// A worker's parameters are snapshotted at its ready and it goes on at once; the inner policy still
// sees it as waiting. What the inner policy starts with it as a blocking member starts with it as a
// background member, and the inner release ends the membership. A worker that becomes ready while
// its previous membership is pending or live waits, makes no request and takes no new snapshot
// until that is over, then counts as newly ready. A worker that the inner policy releases at its
// ready without a synchronisation is released plainly.
#pragma once

#include <memory>
#include <vector>

#include "policies/policy.h"
#include "policies/topology.h"

namespace cohort {

// `applies[w]`: worker w goes on in the background; the others stay as the inner policy holds them.
// Empty: all do.
[[nodiscard]] std::unique_ptr<Policy> in_the_background(std::unique_ptr<Policy> inner,
                                                        const Topology& topology,
                                                        std::vector<bool> applies = {});

}  // namespace cohort
