// A cluster as a SimGrid platform: per GPU a port out and a port in, per node a NIC up and a NIC
// down, no latency anywhere.
//
// Routes inside a node cross the two ports, routes between nodes the two NICs, as in SEMANTICS 3.
// Built by Reference.
#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "policies/topology.h"
#include "sim/cluster.h"

namespace cohort {

// One host per worker, by worker number, in a zone of its own that is named after the shape of the
// cluster.
[[nodiscard]] std::vector<simgrid::s4u::Host*> build_platform(simgrid::s4u::NetZone& parent,
                                                              const ClusterSpec& cluster,
                                                              const Topology& topology);

}  // namespace cohort
