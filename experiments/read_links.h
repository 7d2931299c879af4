// Reads what joins the nodes of a cluster: NICs (`nic`, `nics_per_node`), or a general graph
// (`links`).
#pragma once

#include "experiments/spec_node.h"
#include "sim/cluster.h"

namespace cohort {

// Fills the NIC fields and `links` of `result`, whose gpus_per_node and fabric are set. One node
// needs neither. A link is {"name" (optional), "from", "to": node number or name of a switch,
// "bandwidth", "latency" (0s)}.
void read_links(const SpecNode& cluster, ClusterSpec& result);

}  // namespace cohort
