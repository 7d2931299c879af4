#include "sim/transfer_plan.h"

#include <doctest/doctest.h>

#include <vector>

#include "policies/errors.h"
#include "tests/sim/network.h"

namespace cohort {
TEST_CASE("ring: 16 nodes x 1 GPU without contention take 0.0234 s") {
  Network network(cluster_of(16, 1));
  const auto plan = network.mean(everybody(network.topology()), kPayload);
  CHECK(network.planner().lone_seconds(plan) == exactly(30 * 30e-6 + 1.875 * 60e6 / 5e9));
  CHECK(network.planner().lone_seconds(plan) == exactly(0.0234));
  CHECK(plan.stages.front().latency == Time{30 * 30'000});
  CHECK(plan.inter_node_bytes == exactly(30 * kPayload));
  CHECK(plan.intra_node_bytes == 0);
}

TEST_CASE("ring: inside a node each hop crosses one port out and one port in") {
  Network network(cluster_of(2, 4));
  const auto plan = network.mean(group_of({0, 1, 2, 3}), kPayload);
  CHECK(network.planner().lone_seconds(plan) == exactly(6 * 3e-6 + 1.5 * 60e6 / 10e9));
  CHECK(plan.loads.size() == 8);
  CHECK(plan.intra_node_bytes == exactly(6 * kPayload));
  CHECK(plan.inter_node_bytes == 0);
}

TEST_CASE("ring: on a shared bus every hop of the node takes its part") {
  auto cluster = cluster_of(2, 4);
  cluster.fabric = FabricKind::Shared;
  Network network(cluster);
  CHECK(network.lone_mean(group_of({0, 1, 2, 3}), kPayload) ==
        exactly(6 * 3e-6 + 1.5 * 60e6 / (10e9 / 4)));
  CHECK(network.lone_mean(group_of({0, 1}), kPayload) == exactly(2 * 3e-6 + 60e6 / (10e9 / 2)));
}

TEST_CASE("ring: a group over two nodes crosses each NIC once, however many members a node has") {
  Network network(cluster_of(2, 4));
  const auto plan = network.mean(everybody(network.topology()), kPayload);
  CHECK(network.planner().lone_seconds(plan) == exactly(14 * 30e-6 + 1.75 * 60e6 / 5e9));
  CHECK(plan.inter_node_bytes == exactly(2 * 1.75 * kPayload));
  CHECK(plan.intra_node_bytes == exactly(6 * 1.75 * kPayload));
}

TEST_CASE("acknowledgements leave a one-way transfer its NIC and slow one both ways") {
  auto cluster = cluster_of(2, 1);
  cluster.nic_acknowledgements = 0.25;
  Network network(cluster, 1);  // on node 0
  const std::vector<Member> push{{WorkerId{1}, Role::Blocking, 1}, {WorkerId{2}, Role::Server, 0}};
  CHECK(network.lone(SyncKind::ServerPush, push, kPayload) == exactly(30e-6 + 60e6 / 5e9));
  const auto pair = group_of({0, 1});
  CHECK(network.lone(SyncKind::PairMean, pair, kPayload) == exactly(30e-6 + 60e6 / 4e9));
  CHECK(network.lone_mean(pair, kPayload) == exactly(2 * 30e-6 + 60e6 / 4e9));
}

TEST_CASE("ring: the order of the members changes nothing, however far apart they are") {
  Network network(cluster_of(40, 4));
  for (const std::uint32_t last : {13U, 64U, 65U, 159U}) {
    const auto sorted = network.mean(group_of({1, 2, 6, last}), kPayload);
    const auto mixed = network.mean(group_of({last, 2, 1, 6}), kPayload);
    CHECK(sorted.loads.size() == mixed.loads.size());
    CHECK(network.planner().lone_seconds(sorted) == network.planner().lone_seconds(mixed));
    CHECK(sorted.intra_node_bytes == mixed.intra_node_bytes);
    CHECK(sorted.intra_node_bytes == exactly(1.5 * kPayload));
  }
}

TEST_CASE("ring: the slowest hop sets the latency and the slowest NIC the rate") {
  auto cluster = cluster_of(4, 1);
  cluster.nic_latency[2] = Time{25'000};
  cluster.nic_bandwidth[3] = 1e9;
  Network network(cluster);
  CHECK(network.lone_mean(group_of({0, 1, 2, 3}), kPayload) ==
        exactly(6 * 40e-6 + 1.5 * 60e6 / 1e9));
  CHECK(network.lone_mean(group_of({0, 1}), kPayload) == exactly(2 * 30e-6 + 60e6 / 5e9));
}

TEST_CASE("contention: two inter groups of 4 on the same 4 NICs get half each") {
  Network network(cluster_of(4, 2));
  const std::vector plans{network.mean(group_of({0, 2, 4, 6}), kPayload),
                          network.mean(group_of({1, 3, 5, 7}), kPayload)};
  const double alone = 1.5 * kPayload / 5e9;
  for (const double end : network.transfer_seconds(plans)) CHECK(end == exactly(2 * alone));
}

TEST_CASE("contention: half the bytes end first and the longer takes (B1 + B2) * 1.5 / b") {
  Network network(cluster_of(4, 2));
  const std::vector plans{network.mean(group_of({0, 2, 4, 6}), kPayload),
                          network.mean(group_of({1, 3, 5, 7}), kPayload / 2)};
  const auto ends = network.transfer_seconds(plans);
  CHECK(ends[1] == exactly(2 * 1.5 * kPayload / 2 / 5e9));
  CHECK(ends[0] == exactly(1.5 * kPayload * 1.5 / 5e9));
}

TEST_CASE("contention: intra groups of different nodes do not meet") {
  Network network(cluster_of(2, 4));
  const std::vector plans{network.mean(group_of({0, 1, 2, 3}), kPayload),
                          network.mean(group_of({4, 5, 6, 7}), kPayload)};
  for (const double end : network.transfer_seconds(plans)) {
    CHECK(end == exactly(1.5 * kPayload / 10e9));
  }
}

TEST_CASE("core: all hops between nodes share it") {
  auto cluster = cluster_of(4, 2);
  cluster.core_bandwidth = 10e9;
  Network network(cluster);
  CHECK(network.lone_mean(group_of({0, 2, 4, 6}), kPayload) ==
        exactly(6 * 30e-6 + 1.5 * kPayload / (10e9 / 4)));
  CHECK(network.lone_mean(group_of({0, 1}), kPayload) == exactly(2 * 3e-6 + kPayload / 10e9));
  const std::vector plans{network.mean(group_of({0, 2}), kPayload),
                          network.mean(group_of({4, 6}), kPayload)};
  for (const double end : network.transfer_seconds(plans)) {
    CHECK(end == exactly(kPayload / (10e9 / 4)));
  }
}

TEST_CASE("host link: what goes in and out of a node adds up") {
  auto cluster = cluster_of(4, 1);
  cluster.host_bandwidth = 4e9;
  Network network(cluster);
  CHECK(network.lone_mean(group_of({0, 1, 2, 3}), kPayload) ==
        exactly(6 * 30e-6 + 1.5 * kPayload / 2e9));
}

TEST_CASE("several NICs: local rank i uses NIC floor(i k / L) and a ring splits over them") {
  auto cluster = cluster_of(2, 4);
  cluster.nics_per_node = 2;
  Network network(cluster);
  CHECK(network.lone_mean(everybody(network.topology()), kPayload) ==
        exactly(14 * 30e-6 + 1.75 * kPayload / 10e9));
  CHECK(network.lone_mean(group_of({0, 1, 4, 5}), kPayload) ==
        exactly(6 * 30e-6 + 1.5 * kPayload / 5e9));
  const std::vector apart{network.mean(group_of({1, 5}), kPayload),
                          network.mean(group_of({2, 6}), kPayload)};
  for (const double end : network.transfer_seconds(apart)) CHECK(end == exactly(kPayload / 5e9));
  const std::vector together{network.mean(group_of({0, 4}), kPayload),
                             network.mean(group_of({1, 5}), kPayload)};
  for (const double end : network.transfer_seconds(together)) {
    CHECK(end == exactly(2 * kPayload / 5e9));
  }
}

TEST_CASE("duplex off: both directions of a NIC and of a port share it") {
  Network network(cluster_of(2, 2), 0, {.duplex = false});
  CHECK(network.lone_mean(group_of({0, 2}), kPayload) == exactly(2 * 30e-6 + kPayload / 2.5e9));
  CHECK(network.lone_mean(group_of({0, 1}), kPayload) == exactly(2 * 3e-6 + kPayload / 5e9));
}

TEST_CASE("endpoint bandwidth: every worker is limited, inside a node and between nodes alike") {
  Network network(cluster_of(2, 4), 0, {.endpoint_bandwidth = 1e9});
  CHECK(network.lone_mean(group_of({0, 1, 2, 3}), kPayload) ==
        exactly(6 * 3e-6 + 1.5 * kPayload / 1e9));
  CHECK(network.lone_mean(everybody(network.topology()), kPayload) ==
        exactly(14 * 30e-6 + 1.75 * kPayload / 1e9));
  CHECK(network.lone(SyncKind::PairMean, group_of({0, 4}), kPayload) ==
        exactly(30e-6 + kPayload / 1e9));
}

TEST_CASE("endpoint bandwidth: a server has none of its own") {
  const std::vector<Member> all{{WorkerId{0}}, {WorkerId{2}, Role::Server}};
  Network network(cluster_of(2, 1), 1, {.endpoint_bandwidth = 1e9});
  const std::vector<Member> other{{WorkerId{1}}, {WorkerId{2}, Role::Server}};
  const std::vector plans{network.plan(SyncKind::ServerPush, all, kPayload),
                          network.plan(SyncKind::ServerPush, other, kPayload)};
  for (const double end : network.transfer_seconds(plans)) CHECK(end == exactly(kPayload / 1e9));
}

TEST_CASE("pair mean: a + B / r, both ways at once") {
  Network network(cluster_of(2, 2));
  const auto plan = network.plan(SyncKind::PairMean, group_of({3, 0}), kPayload);
  CHECK(network.planner().lone_seconds(plan) == exactly(30e-6 + kPayload / 5e9));
  CHECK(plan.inter_node_bytes == exactly(2 * kPayload));
  CHECK(network.lone(SyncKind::PairMean, group_of({0, 1}), kPayload) ==
        exactly(3e-6 + kPayload / 10e9));
  CHECK_THROWS_AS((void)network.plan(SyncKind::PairMean, group_of({0}), 1), ContractError);
}

TEST_CASE("neighbour mix: the reader's link carries the payload of every source") {
  Network network(cluster_of(4, 1));
  const std::vector<Member> members{
      {WorkerId{1}, Role::Source}, {WorkerId{2}}, {WorkerId{3}, Role::Source}};
  const auto plan = network.plan(SyncKind::NeighbourMix, members, kPayload);
  CHECK(network.planner().lone_seconds(plan) == exactly(30e-6 + 2 * kPayload / 5e9));
  CHECK(plan.inter_node_bytes == exactly(2 * kPayload));
}

TEST_CASE("neighbour mix: all readers of a ring of workers at once keep every NIC full") {
  Network network(cluster_of(4, 1));
  std::vector<TransferPlan> plans;
  for (std::uint32_t reader = 0; reader < 4; ++reader) {
    plans.push_back(network.plan(SyncKind::NeighbourMix,
                                 {{WorkerId{reader}},
                                  {WorkerId{(reader + 1) % 4}, Role::Source},
                                  {WorkerId{(reader + 3) % 4}, Role::Source}},
                                 kPayload));
  }
  for (const double end : network.transfer_seconds(plans)) {
    CHECK(end == exactly(2 * kPayload / 5e9));
  }
}

TEST_CASE(
    "server exchange: several servers load the worker with 1 and each server with its share") {
  Network network(cluster_of(4, 2), 2);  // server 8 on node 0, server 9 on node 1
  const auto members = [](std::uint32_t worker) {
    return std::vector<Member>{
        {WorkerId{worker}}, {WorkerId{8}, Role::Server}, {WorkerId{9}, Role::Server}};
  };
  const auto push = network.plan(SyncKind::ServerPush, members(4), kPayload);
  CHECK(network.planner().lone_seconds(push) == exactly(30e-6 + kPayload / 5e9));
  CHECK(push.inter_node_bytes == exactly(kPayload));
  const std::vector two{push, network.plan(SyncKind::ServerPush, members(6), kPayload)};
  for (const double end : network.transfer_seconds(two)) CHECK(end == exactly(kPayload / 5e9));
  const std::vector crossing{push, network.plan(SyncKind::ServerPull, members(4), kPayload)};
  for (const double end : network.transfer_seconds(crossing)) CHECK(end == exactly(kPayload / 5e9));
}

TEST_CASE("server exchange: a worker on the server's node uses the fabric") {
  Network network(cluster_of(2, 2), 1);
  const std::vector<Member> members{{WorkerId{1}}, {WorkerId{4}, Role::Server}};
  const auto push = network.plan(SyncKind::ServerPush, members, kPayload);
  CHECK(network.planner().lone_seconds(push) == exactly(3e-6 + kPayload / 10e9));
  CHECK(push.intra_node_bytes == exactly(kPayload));
  // A push and a pull go opposite ways through the two ports.
  const std::vector plans{network.plan(SyncKind::ServerPull, members, kPayload),
                          network.plan(SyncKind::ServerPush, members, kPayload)};
  for (const double end : network.transfer_seconds(plans)) CHECK(end == exactly(kPayload / 10e9));
}

TEST_CASE("server exchange: all pushes to one server share its NIC") {
  Network network(cluster_of(4, 1), 1);
  std::vector<TransferPlan> pushes;
  for (std::uint32_t worker = 1; worker < 4; ++worker) {
    pushes.push_back(network.plan(SyncKind::ServerPush,
                                  {{WorkerId{worker}}, {WorkerId{4}, Role::Server}}, kPayload));
  }
  for (const double end : network.transfer_seconds(pushes)) {
    CHECK(end == exactly(3 * kPayload / 5e9));
  }
}

TEST_CASE("several NICs: server j uses NIC floor(j / N) mod k") {
  auto cluster = cluster_of(2, 1);
  cluster.nics_per_node = 2;
  Network network(cluster, 4);  // servers 2, 4 on node 0, by NIC 0 and 1; 3, 5 on node 1
  const auto push = [&](std::uint32_t server) {
    return network.plan(SyncKind::ServerPull, {{WorkerId{1}}, {WorkerId{server}, Role::Server}},
                        kPayload);
  };
  const auto first = push(2);
  const auto second = push(4);
  CHECK(first.loads.front().link != second.loads.front().link);
  CHECK(first.loads.back().link == second.loads.back().link);
}

TEST_CASE("local mean: three passes at the memory bandwidth, where something is averaged") {
  auto cluster = cluster_of(2, 2);
  cluster.memory_bandwidth = 1e12;
  Network network(cluster, 1);
  CHECK(network.mean(group_of({0, 1}), kPayload).stages.back().local == Time{180'000});
  CHECK(network.plan(SyncKind::PairMean, group_of({0, 1}), kPayload).stages.back().local ==
        Time{180'000});
  CHECK(network.lone_mean(group_of({0, 1}), kPayload) ==
        exactly(2 * 3e-6 + kPayload / 10e9 + 180e-6));
  const std::vector<Member> exchange{{WorkerId{1}}, {WorkerId{4}, Role::Server}};
  CHECK(network.plan(SyncKind::ServerPush, exchange, kPayload).stages.back().local == Time{0});
}

TEST_CASE("a group of one and an empty payload move nothing") {
  Network network(cluster_of(2, 2));
  const auto one = network.mean(group_of({3}), kPayload);
  CHECK(one.stages.size() == 1);
  CHECK(one.stages.front().amount == 0);
  CHECK(network.planner().lone_seconds(one) == 0);
  const auto empty = network.mean(group_of({0, 2}), 0);
  CHECK(empty.stages.front().amount == 0);
  CHECK(network.planner().lone_seconds(empty) == exactly(2 * 30e-6));
  CHECK(empty.inter_node_bytes == 0);
}

TEST_CASE("halving every bandwidth doubles the transfer part of every kind") {
  auto cluster = cluster_of(4, 2);
  cluster.core_bandwidth = 12e9;
  cluster.host_bandwidth = 7e9;
  auto halved = cluster;
  for (auto& bandwidth : halved.nic_bandwidth) bandwidth /= 2;
  halved.fabric_bandwidth /= 2;
  *halved.core_bandwidth /= 2;
  *halved.host_bandwidth /= 2;
  Network whole(cluster, 1);
  Network half(halved, 1);
  const std::vector<Member> mixed{
      {WorkerId{0}}, {WorkerId{1}, Role::Source}, {WorkerId{7}, Role::Source}};
  const std::vector<Member> push{{WorkerId{5}}, {WorkerId{8}, Role::Server}};
  const auto doubles = [&](SyncKind kind, const std::vector<Member>& members) {
    const auto of = [&](Network& network) {
      return network.transfer_seconds(std::vector{network.plan(kind, members, kPayload)}).front();
    };
    CHECK(of(half) == 2 * of(whole));
  };
  doubles(SyncKind::GroupMean, group_of({0, 1, 2, 4, 7}));
  doubles(SyncKind::PairMean, group_of({0, 7}));
  doubles(SyncKind::NeighbourMix, mixed);
  doubles(SyncKind::ServerPush, push);
}

TEST_CASE("slow NIC: the transfer slows by the factor, the lone duration stays nominal") {
  Network network(cluster_of(4, 1));
  const std::vector plans{network.mean(group_of({0, 1, 2, 3}), kPayload)};
  network.planner().slow_nic(2, 4);
  CHECK(network.transfer_seconds(plans).front() == exactly(4 * 1.5 * kPayload / 5e9));
  CHECK(network.planner().lone_seconds(plans.front()) == exactly(6 * 30e-6 + 1.5 * kPayload / 5e9));
  network.planner().slow_nic(2, 1);
  CHECK(network.transfer_seconds(plans).front() == exactly(1.5 * kPayload / 5e9));
}

TEST_CASE("impossible payloads and members are refused") {
  Network network(cluster_of(2, 2), 1);
  CHECK_THROWS_AS((void)network.mean({}, 1), ContractError);
  CHECK_THROWS_AS((void)network.mean(group_of({0, 1}), -1), ContractError);
  CHECK_THROWS_AS((void)network.mean(group_of({0, 4}), 1), ContractError);
  CHECK_THROWS_AS((void)network.plan(SyncKind::NeighbourMix, group_of({0, 1}), 1), ContractError);
}

}  // namespace cohort
