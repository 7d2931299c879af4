// `d-psgd`: synchronous decentralised averaging; every worker mixes with its neighbours in a fixed
// graph, once a step.
//
// A worker's mix of step s starts when it and all its neighbours have reported ready at step s. The
// neighbours are sources: read as they stood at their ready of step s, neither held nor resumed, so
// a neighbourhood is at most one step ahead. Members: the reader (its own weight), then the sources
// of positive weight. A neighbour that is lost, or left before it reported step s, is not waited
// for and its weight goes to the reader; one that left later is still read. A reader without
// sources is released. Weights: Metropolis-Hastings, 1 / (1 + max(degree_i, degree_j)), which is
// 1/3 on a ring and 1/n on a complete graph, or given; on a ring of 2 the two coinciding neighbours
// add up to 2/3.
#pragma once

#include "policies/graph.h"
#include "policies/registry.h"

namespace cohort {

[[nodiscard]] PolicyEntry d_psgd_entry();

// One mixing matrix of d-psgd.
class MixingWeights {
 public:
  // Reads the options `graph` and `weights`, which have been checked.
  MixingWeights(const Options& options, const Topology& topology);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  // What `reader` gives to its neighbour `source`.
  [[nodiscard]] double weight(std::uint32_t reader, std::uint32_t source) const;

 private:
  Graph graph_;
  Matrix given_;
  bool ring_of_two_;
};

}  // namespace cohort
