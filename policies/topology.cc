#include "policies/topology.h"

#include "policies/errors.h"

namespace cohort {

Topology::Topology(std::span<const std::uint32_t> gpus_per_node, std::uint32_t servers)
    : servers_(servers) {
  std::uint32_t total = 0;
  for (const auto count : gpus_per_node) total += count;
  if (total == 0) throw ContractError("topology: a run needs at least one worker");
  node_of_.reserve(total);
  first_on_.reserve(gpus_per_node.size() + 1);
  for (std::uint32_t node = 0; node < gpus_per_node.size(); ++node) {
    first_on_.push_back(workers());
    node_of_.insert(node_of_.end(), gpus_per_node[node], node);
  }
  first_on_.push_back(workers());
}

Topology::Topology(std::uint32_t nodes, std::uint32_t gpus_per_node, std::uint32_t servers)
    : Topology(std::vector<std::uint32_t>(nodes, gpus_per_node), servers) {}

}  // namespace cohort
