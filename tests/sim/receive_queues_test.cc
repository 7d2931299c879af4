#include "sim/receive_queues.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/sim/network.h"

namespace cohort {
namespace {

// Five nodes of one GPU, NICs of 1 byte a ns; 100 bytes under way on each connection.
struct FiveNodes {
  ClusterSpec cluster = [] {
    auto cluster = cluster_of(5, 1);
    cluster.nic_bandwidth.assign(5, 1e9);
    return cluster;
  }();
  Topology topology{cluster.gpus_per_node, 0};
  EventQueue queue;
  FairShare network;
  LinkMap links{cluster, topology, {}, network};
  Transfers transfers{queue, network};
  ReceiveQueues queues{100, links, transfers};
  std::uint32_t slots = 0;

  FiveNodes() { queue.grow(8); }
  ActivityIndex prepare(std::uint32_t from, std::uint32_t to, double amount) {
    const std::vector<Load> loads = {
        {links.nic_up(from, 0), 1}, {links.nic_down(to, 0), 1}, {links.nic_down(from, 0), 0.04}};
    const auto transfer = transfers.prepare(Slot{slots}, slots, loads, amount);
    ++slots;
    queues.prepare(transfer, loads, amount);
    return transfer;
  }
  ActivityIndex begin(std::uint32_t from, std::uint32_t to, double amount, Time now) {
    const auto transfer = prepare(from, to, amount);
    transfers.begin(transfer, now);
    queues.begin(transfer, now);
    transfers.settle(now);
    return transfer;
  }
};

}  // namespace

TEST_CASE("receive queues: who begins waits for the windows of those who send to the same NIC") {
  FiveNodes rig;
  (void)rig.begin(1, 0, 1000, Time{});
  (void)rig.begin(2, 0, 1000, Time{});
  const auto third = rig.prepare(3, 0, 1000);
  CHECK(rig.queues.wait(third, Time{1000}) == Time{200});
  CHECK(rig.queues.wait(rig.prepare(3, 4, 1000), Time{1000}) == Time{});
}

TEST_CASE("receive queues: a window fills by what senders send more than the NIC takes in") {
  FiveNodes rig;
  (void)rig.begin(1, 0, 1000, Time{});
  (void)rig.begin(2, 0, 1000, Time{});
  const auto third = rig.prepare(3, 0, 1000);
  CHECK(rig.queues.wait(third, Time{}) == Time{});
  CHECK(rig.queues.wait(third, Time{100}) == Time{100});  // each sent 100, half of it arrived
  CHECK(rig.queues.wait(third, Time{1960}) == Time{40});  // 20 bytes left of each
}

TEST_CASE("receive queues: a lone sender is no faster than the NIC that it sends to") {
  FiveNodes rig;
  const auto lone = rig.begin(1, 0, 1000, Time{});
  const auto second = rig.prepare(2, 0, 1000);
  CHECK(rig.queues.wait(second, Time{500}) == Time{});
  // Nor are its acknowledgements in the way of what its own host gets.
  CHECK(rig.queues.wait(rig.prepare(2, 1, 1000), Time{500}) == Time{});
  rig.queues.end(lone);
  rig.transfers.end(lone);
  CHECK(rig.queues.wait(second, Time{500}) == Time{});
}

TEST_CASE("receive queues: hosts that each send to two NICs send to each at half their rate") {
  FiveNodes rig;
  for (const std::uint32_t from : {1U, 2U})
    for (const std::uint32_t to : {0U, 4U}) (void)rig.begin(from, to, 1000, Time{});
  CHECK(rig.queues.wait(rig.prepare(3, 0, 1000), Time{1000}) == Time{});
}

}  // namespace cohort
