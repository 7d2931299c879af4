// Which links a cluster has, what they are numbered in the fair-share solver, and their bandwidths.
//
// Per NIC an up and a down link; per GPU and server of a node with several of them a port out and
// a port in (switched fabric), or per such node one bus (shared); one core shared by all NICs; per
// node one host link; per worker an endpoint out and in, private to it. A cluster of one node has
// no NICs, core or host links. A general graph of links stands in place of NICs and core. Numbers
// are computed, not stored, so that a worker costs the links alone. Owned by TransferPlanner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/topology.h"
#include "sim/cluster.h"
#include "sim/fair_share.h"
#include "sim/link_graph.h"

namespace cohort {

struct LinkOptions {
  std::optional<double> endpoint_bandwidth{};  // private in and out link of each worker, bytes/s
  bool duplex = true;  // false: both directions of a NIC, port or graph link share one link
};

class LinkMap {
 public:
  // Adds all links to `network`. `topology` and `network` outlive this. Throws ContractError on
  // impossible values, InputError on a graph of links that does not fit the nodes.
  LinkMap(const ClusterSpec& cluster, const Topology& topology, const LinkOptions& options,
          FairShare& network);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] bool duplex() const { return duplex_; }

  // Local rank i uses NIC floor(i * nics / workers on the node), server j NIC floor(j / nodes)
  // mod nics.
  [[nodiscard]] std::uint32_t nic_of(WorkerId member) const {
    if (nics_ == 1) return 0;
    if (topology_.is_server(member)) return place_of_server(member) % nics_;
    return topology_.local_rank(member) * nics_ / topology_.workers_on(topology_.node_of(member));
  }
  [[nodiscard]] LinkIndex nic_up(std::uint32_t node, std::uint32_t nic) const {
    return at(first_nic_ + (node * nics_ + nic) * directions_);
  }
  // Whether it is the up link of a NIC, and the down link; neither without duplex or in a graph.
  [[nodiscard]] bool is_nic_up(LinkIndex link) const { return is_nic(link, 0); }
  [[nodiscard]] bool is_nic_down(LinkIndex link) const { return is_nic(link, 1); }
  // Share of what crosses a NIC one way that crosses it the other way too.
  [[nodiscard]] double acknowledgements() const { return acknowledgements_; }
  [[nodiscard]] LinkIndex nic_down(std::uint32_t node, std::uint32_t nic) const {
    return at(first_nic_ + (node * nics_ + nic) * directions_ + directions_ - 1);
  }

  [[nodiscard]] bool switched() const { return switched_; }
  [[nodiscard]] LinkIndex port_out(WorkerId member) const { return at(port(member)); }
  [[nodiscard]] LinkIndex port_in(WorkerId member) const {
    return at(port(member) + directions_ - 1);
  }
  // Those of all workers of a node.
  struct Ports {
    std::uint32_t first_port, first_worker, directions;
    [[nodiscard]] LinkIndex out(WorkerId worker) const {
      return at(first_port + (index(worker) - first_worker) * directions);
    }
    [[nodiscard]] LinkIndex in(WorkerId worker) const {
      return at(first_port + (index(worker) - first_worker) * directions + directions - 1);
    }
  };
  [[nodiscard]] Ports ports_of(std::uint32_t node) const {
    return {first_port_[node], index(topology_.first_worker_on(node)), directions_};
  }
  [[nodiscard]] LinkIndex bus(std::uint32_t node) const { return at(first_port_[node]); }

  [[nodiscard]] std::optional<LinkIndex> core() const { return core_; }
  [[nodiscard]] bool has_hosts() const { return first_host_.has_value(); }
  [[nodiscard]] LinkIndex host(std::uint32_t node) const { return at(*first_host_ + node); }
  // Workers have an endpoint, servers have none.
  [[nodiscard]] bool has_endpoint(WorkerId member) const {
    return first_endpoint_.has_value() && !topology_.is_server(member);
  }
  [[nodiscard]] LinkIndex endpoint_out(WorkerId worker) const {
    return at(*first_endpoint_ + 2 * index(worker));
  }
  [[nodiscard]] LinkIndex endpoint_in(WorkerId worker) const {
    return at(*first_endpoint_ + 2 * index(worker) + 1);
  }

  // The graph in place of the NICs, or null.
  [[nodiscard]] LinkGraph* graph() { return graph_ ? &*graph_ : nullptr; }
  [[nodiscard]] LinkIndex graph_link(RouteStep step) const {
    return at(first_nic_ + step.link * directions_ + (step.forward ? 0 : directions_ - 1));
  }

  // One way, of a hop inside a node, or from one node to another.
  [[nodiscard]] Time latency_inside() const { return fabric_latency_; }
  [[nodiscard]] Time latency_between(std::uint32_t from, std::uint32_t to) {
    return graph_ ? graph_->latency(from, to) : nic_latency_[from] + nic_latency_[to];
  }

  // Bytes per second, as if no NIC were slow.
  [[nodiscard]] double nominal(LinkIndex link) const;
  // Bytes per second, with the NICs that are slow now.
  [[nodiscard]] double present(LinkIndex link) const { return network_.capacity(link); }
  // Divides the bandwidth of all NICs of `node` by `factor` > 0 (1: nominal); in a graph, that of
  // all links that end at it (a link between two slow nodes: by the larger factor).
  void slow_nic(std::uint32_t node, double factor);

 private:
  [[nodiscard]] bool is_nic(LinkIndex link, std::uint32_t direction) const {
    const auto place = static_cast<std::uint32_t>(link) - first_nic_;
    return duplex_ && !graph_ && place < outer_links_ * directions_ &&
           place % directions_ == direction;
  }
  static LinkIndex at(std::uint32_t number) { return LinkIndex{number}; }
  [[nodiscard]] std::uint32_t place_of_server(WorkerId server) const {
    return (index(server) - topology_.workers()) / topology_.nodes();
  }
  // Workers by local rank, then servers.
  [[nodiscard]] std::uint32_t port(WorkerId member) const {
    const auto node = topology_.node_of(member);
    const auto place = topology_.is_server(member)
                           ? topology_.workers_on(node) + place_of_server(member)
                           : topology_.local_rank(member);
    return first_port_[node] + place * directions_;
  }
  [[nodiscard]] std::uint32_t members_on(std::uint32_t node) const;
  [[nodiscard]] std::uint32_t add_links(std::size_t count, double capacity);
  [[nodiscard]] std::size_t count_links(const ClusterSpec& cluster,
                                        const LinkOptions& options) const;
  void add_graph(const ClusterSpec& cluster);
  void add_nics(const ClusterSpec& cluster);
  void add_fabric(const ClusterSpec& cluster);

  const Topology& topology_;
  FairShare& network_;
  bool duplex_;
  bool switched_;
  std::uint32_t directions_;  // links of a duplex pair: 2, or 1 without duplex
  std::uint32_t nics_;
  double acknowledgements_;
  Time fabric_latency_;
  std::vector<Time> nic_latency_;          // by node; empty with a graph
  std::vector<double> outer_bandwidth_;    // by node, of each NIC; with a graph by graph link
  std::vector<double> graph_factor_;       // by node: how slow its graph links are
  std::uint32_t first_nic_ = 0;            // also of the graph's links
  std::uint32_t outer_links_ = 0;          // how many NIC or graph links there are
  std::vector<std::uint32_t> first_port_;  // by node: first port, or the bus
  std::optional<LinkIndex> core_;
  std::optional<std::uint32_t> first_host_;
  std::optional<std::uint32_t> first_endpoint_;
  std::optional<LinkGraph> graph_;
};

}  // namespace cohort
