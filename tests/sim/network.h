// A cluster's network without a simulator: plans, and how long they take when they start together.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

#include "sim/transfer_plan.h"

namespace cohort {

inline constexpr double kPayload = 60e6;  // bytes

// Formulas are met to 1e-12 relative (SEMANTICS 4).
inline doctest::Approx exactly(double value) {
  return doctest::Approx(value).epsilon(1e-12).scale(0);
}

// `nodes` x `gpus`: nic 5 GB/s and 15 us, switched fabric 10 GB/s and 3 us.
inline ClusterSpec cluster_of(std::uint32_t nodes, std::uint32_t gpus) {
  ClusterSpec cluster;
  cluster.gpus_per_node.assign(nodes, gpus);
  cluster.nic_bandwidth.assign(nodes, 5e9);
  cluster.nic_latency.assign(nodes, Time{15'000});
  cluster.fabric_bandwidth = 10e9;
  cluster.fabric_latency = Time{3'000};
  return cluster;
}

inline std::vector<Member> group_of(std::initializer_list<std::uint32_t> workers) {
  std::vector<Member> members;
  for (const auto worker : workers) members.push_back({WorkerId{worker}, Role::Blocking, 1});
  return members;
}

inline std::vector<Member> everybody(const Topology& topology) {
  std::vector<Member> members;
  for (std::uint32_t i = 0; i < topology.workers(); ++i) members.push_back({WorkerId{i}});
  return members;
}

class Network {
 public:
  explicit Network(const ClusterSpec& cluster, std::uint32_t servers = 0,
                   const TransferPlanner::Options& options = {})
      : topology_(cluster.gpus_per_node, servers), planner_(cluster, topology_, options, share_) {}

  [[nodiscard]] TransferPlan plan(SyncKind kind, const std::vector<Member>& members, double bytes) {
    TransferPlan plan;
    const std::vector<PackedMember> packed(members.begin(), members.end());
    planner_.plan(kind, packed, bytes, plan);
    return plan;
  }
  [[nodiscard]] TransferPlan mean(const std::vector<Member>& members, double bytes) {
    return plan(SyncKind::GroupMean, members, bytes);
  }
  [[nodiscard]] double lone(SyncKind kind, const std::vector<Member>& members, double bytes) {
    return planner_.lone_seconds(plan(kind, members, bytes));
  }
  [[nodiscard]] double lone_mean(const std::vector<Member>& members, double bytes) {
    return lone(SyncKind::GroupMean, members, bytes);
  }

  // Seconds until each plan has moved its bytes, all begun at once; of one stage each, latency not
  // counted.
  [[nodiscard]] std::vector<double> transfer_seconds(std::span<const TransferPlan> plans) {
    std::vector<ActivityIndex> activities;
    std::vector<double> left;
    for (const auto& plan : plans) {
      activities.push_back(share_.add(plan.loads_of(plan.stages.front())));
      left.push_back(plan.stages.front().amount);
    }
    std::vector<double> end(plans.size(), 0.0);
    double now = 0;
    for (auto active = plans.size(); active > 0; --active) {
      (void)share_.solve();
      double step = INFINITY;
      std::size_t first = 0;
      for (std::size_t i = 0; i < plans.size(); ++i) {
        if (end[i] > 0) continue;
        if (const double seconds = left[i] / share_.rate(activities[i]); seconds < step) {
          step = seconds;
          first = i;
        }
      }
      now += step;
      for (std::size_t i = 0; i < plans.size(); ++i) {
        if (end[i] == 0) left[i] -= step * share_.rate(activities[i]);
      }
      end[first] = now;
      share_.remove(activities[first]);
    }
    return end;
  }

  [[nodiscard]] TransferPlanner& planner() { return planner_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }

 private:
  Topology topology_;
  FairShare share_;
  TransferPlanner planner_;
};

}  // namespace cohort
