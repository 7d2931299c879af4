// A general graph of duplex links between nodes and switches, and the routes through it.
//
// A route has the fewest links; among those the lowest latency; among those the one whose links
// were listed first. Nodes may lie on the way of others. Owned by LinkMap, which gives the links
// their capacities. Routes are found when first asked for: from each source once.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster.h"

namespace cohort {

// One link of a route, and the way it is crossed: forward is from GraphLink::from to ::to.
struct RouteStep {
  std::uint32_t link = 0;
  bool forward = true;
};

class LinkGraph {
 public:
  // Throws InputError, with a JSON pointer into the cluster, when an end is no node, a link joins
  // an end to itself, a bandwidth is not finite and above zero, or two nodes are not connected.
  LinkGraph(std::span<const GraphLink> links, std::uint32_t nodes);

  // Calls visit(RouteStep) for each link on the route from one node to another, last one first.
  template <class Visit>
  void for_each_step(std::uint32_t from, std::uint32_t to, Visit visit) {
    const auto& reached = routes_from(from);
    for (auto at = to; at != from; at = reached[at].previous) visit(reached[at].last);
  }
  // Sum of the latencies of the links on the route.
  [[nodiscard]] Time latency(std::uint32_t from, std::uint32_t to) {
    return routes_from(from)[to].latency;
  }
  // Numbers of the links that end at a node.
  [[nodiscard]] std::vector<std::uint32_t> links_at(std::uint32_t node) const;
  // The two ends of a link: nodes as numbered, then switches.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> ends(std::uint32_t link) const {
    return {edges_[link].from, edges_[link].to};
  }

 private:
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    Time latency;
  };
  // How a vertex is reached from the source of a tree of routes.
  struct Reached {
    bool known = false;
    std::uint32_t hops = 0;
    Time latency{};
    RouteStep last{};
    std::uint32_t previous = 0;
  };

  void check_connected(std::span<const GraphLink> links);
  const std::vector<Reached>& routes_from(std::uint32_t source);
  [[nodiscard]] bool reach_next(std::vector<Reached>& reached, std::uint32_t hops) const;

  std::uint32_t nodes_;
  std::uint32_t vertices_;
  std::vector<Edge> edges_;
  std::vector<std::vector<Reached>> trees_;  // by source; empty until asked for
};

}  // namespace cohort
