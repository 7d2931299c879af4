// Reads `policies` of a spec: names, or objects with a kind, a label and the options that the
// registry lists for the kind.
#pragma once

#include <vector>

#include "experiments/cell.h"
#include "experiments/spec_node.h"
#include "sim/cluster.h"

namespace cohort {

// Options are resolved and checked against the cluster; labels are distinct. Throws InputError with
// the JSON pointer of what is wrong.
[[nodiscard]] std::vector<PolicyChoice> read_policies(const SpecNode& list,
                                                      const ClusterSpec& cluster);

}  // namespace cohort
