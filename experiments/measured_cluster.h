// The cluster part of a spec, fitted to measured collectives (runtime/measurement.h), and how far
// the model is off from each of them.
//
//   nic     from the all-reduces of one rank per node, of two such groups side by side, and of
//           everybody: t = 2(g-1) a + 2(g-1)/g S / b, by least squares with weights 1/t^2; the one
//           of median bandwidth, of two the larger. A hop between nodes has twice a NIC's latency.
//           Where the transfers of many ranks to one show that one way alone carries more, the
//           bandwidth is that, at most a tenth more, and acknowledgements make the difference
//   fabric  from the all-reduce inside one node, in the same way; where a host has more ranks than
//           CPUs, from the pair exchange inside a node: t = a + S / b. No latency above that of a
//           hop of the ring of everybody. `shared`, of twice that bandwidth, when two pairs side by
//           side slow each other down by more than half
//   sharing_spread  from the transfers of many ranks to one, all at once, of the three largest
//           sizes: how much earlier than the last they end in the mean
//   nic.window  from a ping beside the transfers of many ranks to one, of the largest size: what it
//           takes longer than beside the smallest, times the bandwidth, over the number of
//           transfers
// Links over the sizes whose time is mostly transfer (at least twice the smallest one's; three
// sizes at least): what a tiny message takes is the waking of ranks, and a link that holds a queue
// or a bucket of tokens goes on while ranks wake, so that this time is not added to a transfer's.
// Patterns with more ranks at work on a host than it has CPUs carry a warning and feed no fit.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/measurement.h"
#include "sim/cluster.h"

namespace cohort {

struct PatternCheck {  // the model against one timing
  std::string pattern;
  std::uint64_t bytes = 0;
  double measured_seconds = 0;
  double predicted_seconds = 0;
};

struct MeasuredCluster {
  ClusterSpec cluster;
  nlohmann::ordered_json spec;       // the value of a spec's "cluster"
  std::vector<PatternCheck> checks;  // all-reduces, each at each size
  std::vector<std::string> warnings;
};

// `nodes[i]`: the ranks on node i; `cpus`: of every host. Throws InputError when nothing could be
// measured: a single rank.
[[nodiscard]] MeasuredCluster fit_cluster(const std::vector<PatternResult>& results,
                                          const std::vector<std::vector<std::uint32_t>>& nodes,
                                          std::uint32_t cpus);

}  // namespace cohort
