// Tree, hierarchical, auto and measured collectives against their formulas (SEMANTICS 3).
#include <doctest/doctest.h>

#include <vector>

#include "policies/errors.h"
#include "sim/bus_curve.h"
#include "tests/sim/network.h"

namespace cohort {
namespace {

ClusterSpec with(ClusterSpec cluster, std::variant<Collective, MeasuredCurve> collective) {
  cluster.collective = std::move(collective);
  return cluster;
}

}  // namespace

TEST_CASE("tree: 2 ceil(log2 g) a + 2 B / r between nodes") {
  Network network(with(cluster_of(16, 1), Collective::Tree));
  CHECK(network.lone_mean(everybody(network.topology()), kPayload) ==
        exactly(8 * 30e-6 + 2 * kPayload / 5e9));
  CHECK(network.lone_mean(group_of({0, 1, 2, 3, 4}), kPayload) ==
        exactly(6 * 30e-6 + 2 * kPayload / 5e9));
}

TEST_CASE("tree: inside a node the chain is open, so g - 1 hops cross a bus") {
  auto cluster = with(cluster_of(2, 4), Collective::Tree);
  Network switched(cluster);
  CHECK(switched.lone_mean(group_of({0, 1, 2, 3}), kPayload) ==
        exactly(4 * 3e-6 + 2 * kPayload / 10e9));
  cluster.fabric = FabricKind::Shared;
  Network shared(cluster);
  CHECK(shared.lone_mean(group_of({0, 1, 2, 3}), kPayload) ==
        exactly(4 * 3e-6 + 2 * kPayload / (10e9 / 3)));
}

TEST_CASE("hierarchical: reduce-scatter inside, shards across, all-gather inside") {
  Network network(with(cluster_of(4, 4), Collective::Hierarchical));
  const auto plan = network.mean(everybody(network.topology()), kPayload);
  REQUIRE(plan.stages.size() == 3);
  const double inside = 3 * 3e-6 + 0.75 * kPayload / 10e9;
  const double across = 6 * 30e-6 + 1.5 * (kPayload / 4) / (5e9 / 4);
  CHECK(network.planner().lone_seconds(plan) == exactly(2 * inside + across));
  CHECK(plan.inter_node_bytes == exactly(6 * kPayload));
  CHECK(plan.intra_node_bytes == exactly(2 * 4 * 4 * 0.75 * kPayload));
}

TEST_CASE("hierarchical: with a NIC per GPU the shards do not meet") {
  auto cluster = with(cluster_of(4, 4), Collective::Hierarchical);
  cluster.nics_per_node = 4;
  Network network(cluster);
  const double inside = 3 * 3e-6 + 0.75 * kPayload / 10e9;
  CHECK(network.lone_mean(everybody(network.topology()), kPayload) ==
        exactly(2 * inside + 6 * 30e-6 + 1.5 * (kPayload / 4) / 5e9));
}

TEST_CASE("hierarchical: every shard's ring loads the host links and the core") {
  auto cluster = with(cluster_of(4, 2), Collective::Hierarchical);
  cluster.nics_per_node = 2;
  const double inside = 3e-6 + 0.5 * kPayload / 10e9;
  const auto seconds = [&] { return Network(cluster).lone_mean(group_of({0, 1, 2, 3}), kPayload); };
  cluster.host_bandwidth = 8e9;
  CHECK(seconds() == exactly(2 * inside + 2 * 30e-6 + (kPayload / 2) / (8e9 / 4)));
  cluster.core_bandwidth = 6e9;
  CHECK(seconds() == exactly(2 * inside + 2 * 30e-6 + (kPayload / 2) / (6e9 / 4)));
}

TEST_CASE("hierarchical: unequal members per node, or one node, take a ring") {
  Network network(with(cluster_of(4, 4), Collective::Hierarchical));
  Network ring(cluster_of(4, 4));
  for (const auto& group :
       {group_of({0, 1, 2, 4, 5, 8}), group_of({0, 1, 2, 3}), group_of({0, 4, 8, 12}),
        group_of({0, 1, 2, 4, 5, 6, 7, 8, 9}), group_of({0, 1, 2, 3, 4, 8})}) {
    CHECK(network.mean(group, kPayload).stages.size() == 1);
    CHECK(network.lone_mean(group, kPayload) == ring.lone_mean(group, kPayload));
  }
}

TEST_CASE("auto: takes the fastest when alone, by payload") {
  Network automatic(with(cluster_of(4, 4), Collective::Auto));
  Network ring(with(cluster_of(4, 4), Collective::Ring));
  Network tree(with(cluster_of(4, 4), Collective::Tree));
  Network hierarchical(with(cluster_of(4, 4), Collective::Hierarchical));
  const auto members = everybody(ring.topology());
  for (const double bytes : {0.0, 1e3, 1e5, 1e6, 1e7, 1e9}) {
    CAPTURE(bytes);
    const double best = std::min({ring.lone_mean(members, bytes), tree.lone_mean(members, bytes),
                                  hierarchical.lone_mean(members, bytes)});
    CHECK(automatic.lone_mean(members, bytes) == best);
  }
  CHECK(automatic.mean(members, 1e3).stages.size() == 3);
  CHECK(automatic.mean(members, 1e9).stages.size() == 1);
}

TEST_CASE("measured: the lone time is 2(g-1)/g B / bus bandwidth, wherever the group is") {
  const MeasuredCurve curve{{{1e6, 2e9}, {100e6, 8e9}}};
  Network network(with(cluster_of(4, 4), curve));
  CHECK(network.lone_mean(everybody(network.topology()), 100e6) == exactly(1.875 * 100e6 / 8e9));
  CHECK(network.lone_mean(group_of({0, 1, 2}), 1e6) == exactly(4.0 / 3 * 1e6 / 2e9));
  CHECK(network.lone_mean(group_of({0, 4}), 10e6) == exactly(10e6 / 4e9));
  CHECK(network.mean(group_of({0, 4}), 0).stages.front().amount == 0);
}

TEST_CASE("measured: two on the same links get half each, and bytes are not scaled") {
  const MeasuredCurve curve{{{1e6, 2e9}, {100e6, 2e9}}};
  Network network(with(cluster_of(4, 2), curve));
  const std::vector plans{network.mean(group_of({0, 2, 4, 6}), kPayload),
                          network.mean(group_of({1, 3, 5, 7}), kPayload)};
  for (const double end : network.transfer_seconds(plans)) {
    CHECK(end == exactly(2 * 1.5 * kPayload / 2e9));
  }
  CHECK(plans.front().inter_node_bytes == exactly(6 * kPayload));
}

TEST_CASE("measured: a slow NIC counts, for the curve was measured at nominal bandwidth") {
  const MeasuredCurve curve{{{1e6, 2e9}}};
  Network network(with(cluster_of(4, 1), curve));
  network.planner().slow_nic(0, 4);
  const std::vector plans{network.mean(group_of({0, 1}), kPayload)};
  CHECK(network.planner().lone_seconds(plans.front()) == exactly(kPayload / 2e9));
  CHECK(network.transfer_seconds(plans).front() == exactly(4 * kPayload / 2e9));
}

TEST_CASE("bus curve: exact at its points, straight in the logarithms, constant outside") {
  BusCurve curve({{{1e3, 1e8}, {1e5, 1e10}, {1e6, 1e10}}});
  CHECK(curve.at(1e3) == 1e8);
  CHECK(curve.at(1e5) == 1e10);
  CHECK(curve.at(1e4) == exactly(1e9));
  CHECK(curve.at(1) == 1e8);
  CHECK(curve.at(1e9) == 1e10);
  CHECK_THROWS_AS(BusCurve({}), ContractError);
  CHECK_THROWS_AS(BusCurve({{{2, 1}, {1, 1}}}), ContractError);
  CHECK_THROWS_AS(BusCurve({{{1, 0}}}), ContractError);
}

}  // namespace cohort
