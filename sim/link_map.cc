#include "sim/link_map.h"

#include <algorithm>

#include "policies/errors.h"

namespace cohort {
namespace {

void check_shape(const ClusterSpec& cluster, const Topology& topology) {
  const auto nodes = topology.nodes();
  if (cluster.gpus_per_node.size() != nodes) {
    throw ContractError("links: cluster and topology differ in their nodes");
  }
  if (cluster.nics_per_node == 0) throw ContractError("links: a node needs a NIC");
  const bool has_nics = nodes > 1 && cluster.links.empty();
  if (has_nics && (cluster.nic_bandwidth.size() != nodes || cluster.nic_latency.size() != nodes)) {
    throw ContractError("links: every node needs a NIC bandwidth and latency");
  }
}

}  // namespace

LinkMap::LinkMap(const ClusterSpec& cluster, const Topology& topology, const LinkOptions& options,
                 FairShare& network)
    : topology_(topology),
      network_(network),
      duplex_(options.duplex),
      switched_(cluster.fabric == FabricKind::Switched),
      directions_(options.duplex ? 2 : 1),
      nics_(cluster.nics_per_node),
      acknowledgements_(cluster.nic_acknowledgements),
      fabric_latency_(cluster.fabric_latency),
      first_nic_(static_cast<std::uint32_t>(network.link_count())) {
  check_shape(cluster, topology);
  network_.reserve_links(count_links(cluster, options));
  if (topology_.nodes() > 1) {
    if (cluster.links.empty()) {
      add_nics(cluster);
    } else {
      add_graph(cluster);
    }
    outer_links_ = static_cast<std::uint32_t>(network_.link_count()) - first_nic_;
    if (!graph_ && cluster.core_bandwidth) {
      core_ = at(add_links(1, *cluster.core_bandwidth));
    }
    if (cluster.host_bandwidth) first_host_ = add_links(topology_.nodes(), *cluster.host_bandwidth);
  }
  add_fabric(cluster);
  if (options.endpoint_bandwidth) {
    first_endpoint_ = add_links(2 * std::size_t{topology_.workers()}, *options.endpoint_bandwidth);
  }
}

std::uint32_t LinkMap::members_on(std::uint32_t node) const {
  const auto nodes = topology_.nodes();
  const auto servers = topology_.servers() / nodes + (node < topology_.servers() % nodes ? 1 : 0);
  return topology_.workers_on(node) + servers;
}

std::uint32_t LinkMap::add_links(std::size_t count, double capacity) {
  const auto first = static_cast<std::uint32_t>(network_.link_count());
  for (std::size_t i = 0; i < count; ++i) network_.add_link(capacity);
  return first;
}

// An upper bound close to the truth: of a hundred thousand workers, no more may be taken.
std::size_t LinkMap::count_links(const ClusterSpec& cluster, const LinkOptions& options) const {
  const std::size_t nodes = topology_.nodes();
  const std::size_t members = std::size_t{topology_.workers()} + topology_.servers();
  std::size_t count =
      1 + (cluster.links.empty() ? nodes * nics_ : cluster.links.size()) * directions_;
  count += members == nodes ? 0 : switched_ ? members * directions_ : nodes;
  if (cluster.host_bandwidth) count += nodes;
  if (options.endpoint_bandwidth) count += 2 * members;
  return count;
}

void LinkMap::add_nics(const ClusterSpec& cluster) {
  nic_latency_ = cluster.nic_latency;
  outer_bandwidth_ = cluster.nic_bandwidth;
  for (const double bandwidth : outer_bandwidth_) {
    (void)add_links(std::size_t{nics_} * directions_, bandwidth);
  }
}

void LinkMap::add_graph(const ClusterSpec& cluster) {
  graph_.emplace(cluster.links, topology_.nodes());
  graph_factor_.assign(topology_.nodes(), 1.0);
  for (const auto& link : cluster.links) {
    outer_bandwidth_.push_back(link.bandwidth);
    (void)add_links(directions_, link.bandwidth);
  }
}

void LinkMap::add_fabric(const ClusterSpec& cluster) {
  first_port_.reserve(topology_.nodes());
  for (std::uint32_t node = 0; node < topology_.nodes(); ++node) {
    const auto members = members_on(node);
    const auto links = members < 2 ? 0 : switched_ ? members * directions_ : 1;
    first_port_.push_back(add_links(links, cluster.fabric_bandwidth));
  }
}

double LinkMap::nominal(LinkIndex link) const {
  const auto place = static_cast<std::uint32_t>(link) - first_nic_;
  if (place >= outer_links_) return network_.capacity(link);
  return outer_bandwidth_[place / (graph_ ? directions_ : nics_ * directions_)];
}

void LinkMap::slow_nic(std::uint32_t node, double factor) {
  if (node >= topology_.nodes() || !(factor > 0)) {
    throw ContractError("links: a slow NIC needs a node of the cluster and a factor above zero");
  }
  if (graph_) {
    graph_factor_[node] = factor;
    for (const auto link : graph_->links_at(node)) {
      const auto [from, to] = graph_->ends(link);
      const auto factor_at = [&](std::uint32_t end) {
        return end < graph_factor_.size() ? graph_factor_[end] : 1.0;
      };
      const double bandwidth = outer_bandwidth_[link] / std::max(factor_at(from), factor_at(to));
      network_.set_capacity(graph_link({link, true}), bandwidth);
      network_.set_capacity(graph_link({link, false}), bandwidth);
    }
  } else if (outer_links_ > 0) {
    for (std::uint32_t nic = 0; nic < nics_; ++nic) {
      network_.set_capacity(nic_up(node, nic), outer_bandwidth_[node] / factor);
      network_.set_capacity(nic_down(node, nic), outer_bandwidth_[node] / factor);
    }
  }
}

}  // namespace cohort
