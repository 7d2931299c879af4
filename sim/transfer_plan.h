// What a synchronisation costs on a cluster: its fixed terms, its loads on links, its bytes
// (SEMANTICS 3). g members, payload B, latency a of the slowest hop, rate r of one hop:
//
//   ring          T = 2(g-1) a + 2(g-1)/g B/r             [Patarasuk 2009]
//   tree          T = 2 ceil(log2 g) a + 2 B/r
//   hierarchical  T = 2 ((l-1) a + (l-1)/l B/r) + 2(m-1) a' + 2(m-1)/m (B/l)/r'
//                 with l members on each of m nodes
//   measured      T = 2(g-1)/g B / bus bandwidth(B) alone; loads scaled so that r is just that
//   pair, mix     T = a + B/r
//   push, pull    T = a + B/r each
//
// Owned by the simulator's driver, one per run (policy, seed): a policy's `endpoint_bandwidth` and
// `duplex` shape the links. A group of one and an empty payload move nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/packed_member.h"
#include "policies/policy.h"
#include "policies/topology.h"
#include "sim/bus_curve.h"
#include "sim/cluster.h"
#include "sim/fair_share.h"
#include "sim/link_map.h"

namespace cohort {

class StageLoads;

// One activity: first `latency` elapses and loads nothing, then `amount` bytes move at the
// activity's rate over its loads, then `local` elapses.
struct Stage {
  Time latency{};     // the alpha terms
  Time local{};       // 3 passes over the payload at memory_bandwidth, if given; last stage only
  double amount = 0;  // bytes on one hop; 0: no transfer
  std::uint32_t first_load = 0;
  std::uint32_t load_count = 0;
};

// The stages of one synchronisation, in order (hierarchical all-reduce: three; all else: one).
// Reused: no allocation once warm.
struct TransferPlan {
  std::vector<Stage> stages;
  std::vector<Load> loads;
  double inter_node_bytes = 0;  // counted once, at the sender
  double intra_node_bytes = 0;

  [[nodiscard]] std::span<const Load> loads_of(const Stage& stage) const {
    return {loads.data() + stage.first_load, stage.load_count};
  }
  // Makes the transfers weigh `weight` where they share links: the rate is then in units of it.
  void weigh(double weight);
  // Gives the loads of a huge plan back, once they have been used.
  void trim();
};

class TransferPlanner {
 public:
  using Options = LinkOptions;

  // Adds all links to `network`. `topology` and `network` outlive this. Throws ContractError on
  // impossible values (the spec reader has refused them before), InputError when a graph of links
  // does not connect the nodes.
  TransferPlanner(const ClusterSpec& cluster, const Topology& topology, const Options& options,
                  FairShare& network);

  // The plan of one synchronisation of `bytes` payload; `members` in any order. `out` is
  // overwritten. ContractError on members that do not fit the kind.
  void plan(SyncKind kind, std::span<const PackedMember> members, double bytes, TransferPlan& out);

  // Lone duration of a plan: fixed terms plus amount over the lone rate of each stage (links at
  // their nominal capacity).
  [[nodiscard]] double lone_seconds(const TransferPlan& plan) const;
  // The same with the NICs that are slow now.
  [[nodiscard]] double lone_seconds_now(const TransferPlan& plan) const;

  // Divides the bandwidth of all NICs of `node` by `factor` (1: nominal). Link stragglers. In a
  // graph of links: of all links that end at the node.
  void slow_nic(std::uint32_t node, double factor) { links_.slow_nic(node, factor); }

  [[nodiscard]] const LinkMap& links() const { return links_; }

  // What Stage::local is, where there is one: 3 passes over the payload; 0 when memory is free.
  [[nodiscard]] Time local_mean(double bytes) const;

 private:
  void group_mean(std::span<const PackedMember> members, double bytes, TransferPlan& out);
  void pair_mean(std::span<const PackedMember> members, double bytes, TransferPlan& out);
  void neighbour_mix(std::span<const PackedMember> members, double bytes, TransferPlan& out);
  void server_exchange(std::span<const PackedMember> members, bool push, double bytes,
                       TransferPlan& out);

  void order_ring(std::span<const PackedMember> members);
  void collective(Collective kind, double bytes, TransferPlan& out);
  void ring(double bytes, TransferPlan& out);
  void tree(double bytes, TransferPlan& out);
  void hierarchical(double bytes, TransferPlan& out);
  void fastest(double bytes, TransferPlan& out);
  void measured(double bytes, TransferPlan& out);
  [[nodiscard]] std::uint32_t equal_members_per_node() const;

  // Ends a stage of `steps` times the slowest hop's latency.
  void close_stage(StageLoads& loads, std::uint64_t steps, double amount, TransferPlan& out) const;
  // `capacity`: of a link, nominal or present.
  using Capacity = double (LinkMap::*)(LinkIndex) const;
  [[nodiscard]] double lone_rate(std::span<const Load> loads, Capacity capacity) const;
  [[nodiscard]] double lone_seconds(const TransferPlan& plan, Capacity capacity) const;

  LinkMap links_;
  Collective collective_ = Collective::Ring;
  std::optional<BusCurve> curve_;
  std::optional<double> memory_bandwidth_;
  std::vector<WorkerId> ring_;  // the members of a group in ring order
  TransferPlan candidate_;      // of `auto`
};

}  // namespace cohort
