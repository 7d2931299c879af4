#include "experiments/read_links.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <set>

namespace cohort {
namespace {

constexpr std::uint64_t kMostNics = 1024;

GraphLink::End read_end(const SpecNode& node, std::size_t nodes) {
  if (node.json().is_number()) return static_cast<std::uint32_t>(node.count(0, nodes - 1));
  const auto& name = node.text("the number of a node, or the name of a switch");
  if (name.empty()) node.refuse("the number of a node, or the name of a switch");
  return name;
}

GraphLink read_link(const SpecNode& node, std::size_t nodes) {
  node.only_keys({"name", "from", "to", "bandwidth", "latency"});
  GraphLink link;
  link.from = read_end(node.need("from"), nodes);
  link.to = read_end(node.need("to"), nodes);
  if (link.from == link.to) node.need("to").refuse("another end than \"from\"");
  if (const auto name = node.find("name")) link.name = name->text("a name");
  link.bandwidth = node.need("bandwidth").bandwidth();
  if (const auto latency = node.find("latency")) link.latency = latency->time();
  return link;
}

// Refuses a graph in which some node cannot be reached from node 0.
void check_connected(const SpecNode& list, const std::vector<GraphLink>& links,
                     std::uint32_t nodes) {
  std::map<GraphLink::End, std::vector<GraphLink::End>> neighbours;
  for (const auto& link : links) {
    neighbours[link.from].push_back(link.to);
    neighbours[link.to].push_back(link.from);
  }
  std::set<GraphLink::End> reached{0U};
  std::vector<GraphLink::End> frontier{0U};
  while (!frontier.empty()) {
    const auto end = frontier.back();
    frontier.pop_back();
    for (const auto& next : neighbours[end]) {
      if (reached.insert(next).second) frontier.push_back(next);
    }
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (!reached.contains(node))
      list.complain(fmt::format("no path of links joins node 0 and node {}", node));
  }
}

void read_graph(const SpecNode& list, ClusterSpec& result) {
  const auto nodes = static_cast<std::uint32_t>(result.gpus_per_node.size());
  const auto size = list.size("links");
  if (size == 0) list.refuse("at least one link");
  std::set<std::string> names;
  for (std::size_t i = 0; i < size; ++i) {
    const auto node = list.at(i);
    result.links.push_back(read_link(node, nodes));
    const auto& name = result.links.back().name;
    if (!name.empty() && !names.insert(name).second) node.need("name").refuse("a name of its own");
  }
  check_connected(list, result.links, nodes);
}

}  // namespace

void read_links(const SpecNode& cluster, ClusterSpec& result) {
  const auto nodes = result.gpus_per_node.size();
  const auto nic = cluster.find("nic");
  const auto links = cluster.find("links");
  const auto nics_per_node = cluster.find("nics_per_node");
  if (nic && links) links->complain("allowed: either \"nic\" or \"links\"");
  if (links && nics_per_node) nics_per_node->complain("a cluster with links has no NICs");
  if (nics_per_node)
    result.nics_per_node = static_cast<std::uint32_t>(nics_per_node->count(1, kMostNics));
  // A lone node has no use for its NIC; what stands there never carries a byte.
  double bandwidth = result.fabric_bandwidth > 0 ? result.fabric_bandwidth : 1;
  Time latency{};
  if (nic) {
    nic->only_keys({"bandwidth", "latency", "acknowledgements", "window"});
    bandwidth = nic->need("bandwidth").bandwidth();
    if (const auto given = nic->find("latency")) latency = given->time();
    if (const auto share = nic->find("acknowledgements"))
      result.nic_acknowledgements = share->number(0, 1);
    if (const auto window = nic->find("window")) result.nic_window = window->bytes();
  } else if (links) {
    read_graph(*links, result);
  } else if (nodes > 1) {
    cluster.complain("the key \"nic\" is missing: there is more than one node");
  }
  result.nic_bandwidth.assign(nodes, bandwidth);
  result.nic_latency.assign(nodes, latency);
}

}  // namespace cohort
