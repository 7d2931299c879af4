#include "experiments/read_cluster.h"

#include <fmt/format.h>

#include <numeric>
#include <set>
#include <string>

#include "experiments/read_links.h"
#include "policies/topology.h"

namespace cohort {
namespace {

constexpr double kMostComputeFactor = 1e4;
constexpr double kLargestSpread = 3;

std::vector<std::uint32_t> read_gpus_per_node(const SpecNode& cluster) {
  const auto nodes = cluster.find("nodes");
  const auto gpus = cluster.need("gpus_per_node");
  if (!gpus.json().is_array()) {
    const auto node_count = cluster.need("nodes").count(1, kMostWorkers);
    const auto per_node = gpus.count(1, kMostWorkers);
    if (node_count * per_node > kMostWorkers) {
      gpus.refuse(fmt::format("at most {} workers in all", kMostWorkers));
    }
    return std::vector<std::uint32_t>(node_count, static_cast<std::uint32_t>(per_node));
  }
  if (gpus.json().empty()) gpus.refuse("one count per node");
  if (nodes && nodes->count(1, kMostWorkers) != gpus.json().size()) {
    nodes->refuse(fmt::format("{}, the length of the list gpus_per_node", gpus.json().size()));
  }
  std::vector<std::uint32_t> result;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < gpus.json().size(); ++i) {
    total += gpus.at(i).count(1, kMostWorkers);
    if (total > kMostWorkers)
      gpus.at(i).refuse(fmt::format("at most {} workers in all", kMostWorkers));
    result.push_back(static_cast<std::uint32_t>(gpus.at(i).count(1, kMostWorkers)));
  }
  return result;
}

void read_fabric(const SpecNode& cluster, ClusterSpec& result) {
  const auto fabric = cluster.find("fabric");
  if (!fabric) {
    for (const auto gpus : result.gpus_per_node) {
      if (gpus > 1)
        cluster.complain("the key \"fabric\" is missing: a node has more than one worker");
    }
    return;
  }
  fabric->only_keys({"kind", "bandwidth", "latency"});
  if (const auto kind = fabric->find("kind")) {
    result.fabric =
        kind->choice({"switched", "shared"}) == 0 ? FabricKind::Switched : FabricKind::Shared;
  }
  result.fabric_bandwidth = fabric->need("bandwidth").bandwidth();
  if (const auto latency = fabric->find("latency")) result.fabric_latency = latency->time();
}

void override_node(const SpecNode& entry, std::uint32_t node, ClusterSpec& cluster) {
  const auto bandwidth = entry.find("nic_bandwidth");
  const auto latency = entry.find("nic_latency");
  if (!cluster.links.empty() && bandwidth) bandwidth->complain("a cluster with links has no NICs");
  if (!cluster.links.empty() && latency) latency->complain("a cluster with links has no NICs");
  if (bandwidth) cluster.nic_bandwidth[node] = bandwidth->bandwidth();
  if (latency) cluster.nic_latency[node] = latency->time();
  const auto factor = entry.find("compute_factor");
  if (!factor) return;
  const auto first =
      std::accumulate(cluster.gpus_per_node.begin(), cluster.gpus_per_node.begin() + node, 0U);
  for (std::uint32_t i = 0; i < cluster.gpus_per_node[node]; ++i) {
    cluster.compute_factor[first + i] = factor->positive_number(kMostComputeFactor);
  }
}

void override_worker(const SpecNode& entry, ClusterSpec& cluster) {
  for (const std::string_view key : {"nic_bandwidth", "nic_latency"}) {
    if (const auto of_node = entry.find(key))
      of_node->complain("NICs belong to a node; allowed: with \"node\"");
  }
  const auto index = entry.need("worker").count(0, cluster.compute_factor.size() - 1);
  cluster.compute_factor[index] = entry.need("compute_factor").positive_number(kMostComputeFactor);
}

// `said`: what the overrides before this one name, such as `node 3 nic_latency`.
void check_override(const SpecNode& entry, std::set<std::string>& said) {
  entry.only_keys({"node", "worker", "nic_bandwidth", "nic_latency", "compute_factor"});
  const auto node = entry.find("node");
  if (node.has_value() == entry.find("worker").has_value())
    entry.complain("allowed: either \"node\" or \"worker\"");
  if (entry.json().size() == 1) {
    entry.complain("overrides nothing; allowed: nic_bandwidth, nic_latency, compute_factor");
  }
  const auto whose =
      node ? "node " + shown(node->json()) : "worker " + shown(entry.need("worker").json());
  for (const std::string_view key : {"nic_bandwidth", "nic_latency", "compute_factor"}) {
    const auto value = entry.find(key);
    if (value && !said.insert(fmt::format("{} {}", whose, key)).second)
      value->complain(fmt::format("was given before for {}; allowed: once", whose));
  }
}

// A worker's own factor replaces that of its node, whatever their order in the list.
void read_overrides(const SpecNode& list, ClusterSpec& cluster) {
  std::set<std::string> said;
  const auto size = list.size("overrides");
  for (std::size_t i = 0; i < size; ++i) check_override(list.at(i), said);
  for (std::size_t i = 0; i < size; ++i) {
    if (const auto node = list.at(i).find("node")) {
      const auto index = node->count(0, cluster.gpus_per_node.size() - 1);
      override_node(list.at(i), static_cast<std::uint32_t>(index), cluster);
    }
  }
  for (std::size_t i = 0; i < size; ++i)
    if (list.at(i).find("worker")) override_worker(list.at(i), cluster);
}

void read_communicator(const SpecNode& node, ClusterSpec& cluster) {
  constexpr std::uint64_t kMostLists = 1U << 20;
  node.only_keys({"setup", "cache"});
  if (const auto setup = node.find("setup")) cluster.communicator_setup = setup->time();
  if (const auto cache = node.find("cache")) {
    cluster.communicator_cache = static_cast<std::uint32_t>(cache->count(1, kMostLists));
  }
}

void read_collective(const SpecNode& node, SpecFiles& files, ClusterSpec& cluster) {
  if (node.json().is_object()) {
    node.only_keys({"measured"});
    const auto measured = node.need("measured");
    cluster.collective = measured.json().is_string() ? files.curve(measured) : read_curve(measured);
    return;
  }
  if (!node.json().is_string()) {
    node.refuse(
        "ring, tree, hierarchical, auto, or {\"measured\": [[bytes, GB/s], ...] or a file}");
  }
  constexpr Collective kCollectives[] = {Collective::Ring, Collective::Tree,
                                         Collective::Hierarchical, Collective::Auto};
  cluster.collective = kCollectives[node.choice({"ring", "tree", "hierarchical", "auto"})];
}

void read_rates(const SpecNode& node, ClusterSpec& cluster) {
  if (const auto core = node.find("core_bandwidth")) {
    if (!cluster.links.empty())
      core->complain("the core is shared by NICs; a cluster with links has none");
    cluster.core_bandwidth = core->bandwidth();
  }
  if (const auto host = node.find("host_bandwidth")) cluster.host_bandwidth = host->bandwidth();
  if (const auto memory = node.find("memory_bandwidth"))
    cluster.memory_bandwidth = memory->bandwidth();
  if (const auto latency = node.find("coordination_latency"))
    cluster.coordination_latency = latency->time();
  if (const auto service = node.find("coordination_service"))
    cluster.coordination_service = service->time();
  if (const auto hosted = node.find("coordination_hosted"))
    cluster.coordination_hosted = hosted->flag();
  if (const auto spread = node.find("sharing_spread"))
    cluster.sharing_spread = spread->number(0, kLargestSpread);
}

}  // namespace

ClusterSpec read_cluster(const SpecNode& node, SpecFiles& files) {
  node.only_keys({"nodes", "gpus_per_node", "nic", "fabric", "core_bandwidth", "links", "overrides",
                  "collective", "communicator", "coordination_latency", "coordination_service",
                  "coordination_hosted", "sharing_spread", "memory_bandwidth", "nics_per_node",
                  "host_bandwidth"});
  ClusterSpec cluster;
  cluster.gpus_per_node = read_gpus_per_node(node);
  const auto workers =
      std::accumulate(cluster.gpus_per_node.begin(), cluster.gpus_per_node.end(), 0U);
  cluster.compute_factor.assign(workers, 1.0);
  read_fabric(node, cluster);
  read_links(node, cluster);
  read_rates(node, cluster);
  if (const auto collective = node.find("collective")) read_collective(*collective, files, cluster);
  if (const auto communicator = node.find("communicator"))
    read_communicator(*communicator, cluster);
  if (const auto overrides = node.find("overrides")) read_overrides(*overrides, cluster);
  return cluster;
}

}  // namespace cohort
