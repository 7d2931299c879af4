// Who neighbours whom: an undirected graph over the workers, for d-psgd and ad-psgd.
//
// Read from an option of type Graph: "ring" (in worker order), "complete", or a list of edges.
// Neighbours are distinct and never the worker itself; a ring of 2 has one edge, of 1 none. A
// complete graph is held without its edges.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policies/options.h"
#include "policies/topology.h"

namespace cohort {

// The option `graph`, one of "ring", "complete" or a list of edges; `default_choice` is one of the
// first two.
[[nodiscard]] OptionSpec graph_option(std::string default_choice);

// Throws InputError ("/graph/3") on an edge that is not a pair of two distinct workers of the
// topology, or comes twice.
void check_graph(const OptionValue& graph, const Topology& topology);

class Graph {
 public:
  // `graph` has been checked.
  Graph(const OptionValue& graph, const Topology& topology);

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::uint32_t workers() const { return workers_; }
  [[nodiscard]] std::uint32_t degree(std::uint32_t worker) const {
    return complete_ ? workers_ - 1 : first_[worker + 1] - first_[worker];
  }
  // In increasing order. For a complete graph this is everybody, `worker` included: skip it.
  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::uint32_t worker) const {
    if (complete_) return neighbours_;
    return {neighbours_.data() + first_[worker], first_[worker + 1] - first_[worker]};
  }
  [[nodiscard]] bool adjacent(std::uint32_t a, std::uint32_t b) const;

 private:
  std::uint32_t workers_;
  bool complete_;
  std::vector<std::uint32_t> first_;  // first neighbour of each worker; one entry more than workers
  std::vector<std::uint32_t> neighbours_;
};

}  // namespace cohort
