// Where the workers and servers of a run are. Given to a policy at construction; never changes
// during a run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

class Topology {
 public:
  // `gpus_per_node[i]` workers on node i, numbered node by node; `servers` parameter servers,
  // server j on node j mod N. Throws ContractError when there is no worker.
  explicit Topology(std::span<const std::uint32_t> gpus_per_node, std::uint32_t servers = 0);
  // The same with `nodes` equal nodes.
  Topology(std::uint32_t nodes, std::uint32_t gpus_per_node, std::uint32_t servers = 0);

  [[nodiscard]] std::uint32_t workers() const {
    return static_cast<std::uint32_t>(node_of_.size());
  }
  [[nodiscard]] std::uint32_t nodes() const {
    return static_cast<std::uint32_t>(first_on_.size() - 1);
  }
  [[nodiscard]] std::uint32_t servers() const { return servers_; }

  // Node of a worker or of a server (worker number >= workers()).
  [[nodiscard]] std::uint32_t node_of(WorkerId member) const {
    const auto i = index(member);
    return i < workers() ? node_of_[i] : (i - workers()) % nodes();
  }
  // Place of a worker on its node, from 0. Workers only.
  [[nodiscard]] std::uint32_t local_rank(WorkerId worker) const {
    return index(worker) - first_on_[node_of_[index(worker)]];
  }
  [[nodiscard]] std::uint32_t workers_on(std::uint32_t node) const {
    return first_on_[node + 1] - first_on_[node];
  }
  [[nodiscard]] WorkerId first_worker_on(std::uint32_t node) const {
    return WorkerId{first_on_[node]};
  }
  [[nodiscard]] WorkerId server(std::uint32_t shard) const { return WorkerId{workers() + shard}; }
  [[nodiscard]] bool is_server(WorkerId member) const { return index(member) >= workers(); }

 private:
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> first_on_;  // first worker of each node; one entry more than nodes
  std::uint32_t servers_ = 0;
};

}  // namespace cohort
