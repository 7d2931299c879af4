// What a synchronisation costs on a cluster: its fixed terms, its loads on links, its bytes (SEMANTICS 3).
//
// Owned by the simulator's driver, one per run (policy, seed): a policy's `endpoint_bandwidth` and `duplex` shape the links.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/policy.h"
#include "policies/topology.h"
#include "sim/cluster.h"
#include "sim/fair_share.h"

namespace cohort {

// One activity: first `fixed` elapses and loads nothing, then `amount` bytes move at the activity's rate over `loads`.
struct Stage {
  Time latency{};        // the alpha terms
  Time local{};          // 3 passes over the payload at memory_bandwidth, if given
  double amount = 0;     // bytes on one hop; 0: no transfer
  std::uint32_t first_load = 0;
  std::uint32_t load_count = 0;
};

// The stages of one synchronisation, in order (hierarchical all-reduce: three; all else: one). Reused: no allocation once warm.
struct TransferPlan {
  std::vector<Stage> stages;
  std::vector<Load> loads;
  double inter_node_bytes = 0;  // counted once, at the sender
  double intra_node_bytes = 0;

  [[nodiscard]] std::span<const Load> loads_of(const Stage& stage) const {
    return {loads.data() + stage.first_load, stage.load_count};
  }
};

class TransferPlanner {
 public:
  struct Options {
    std::optional<double> endpoint_bandwidth;  // private in and out link of each worker and server
    bool duplex = true;                        // false: both directions of a NIC or port share one link
  };

  // Adds all links to `network`. Throws ContractError on impossible values (the spec reader has refused them before).
  TransferPlanner(const ClusterSpec& cluster, const Topology& topology, const Options& options, FairShare& network);

  // The plan of one synchronisation of `bytes` payload; `members` in any order. `out` is overwritten.
  void plan(SyncKind kind, std::span<const Member> members, double bytes, TransferPlan& out);

  // Lone duration of a plan: fixed terms plus amount over the lone rate of each stage (links at their nominal capacity).
  [[nodiscard]] double lone_seconds(const TransferPlan& plan) const;

  // Divides the bandwidth of all NICs of `node` by `factor` (1: nominal). Link stragglers.
  void slow_nic(std::uint32_t node, double factor);
};

}  // namespace cohort
