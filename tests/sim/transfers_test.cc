#include "sim/transfers.h"

#include <doctest/doctest.h>

#include <vector>

namespace cohort {
namespace {

// Two slots on links of 1 GB/s: 1 byte a ns.
struct Rig {
  EventQueue queue;
  FairShare network;
  Transfers transfers{queue, network};
  LinkIndex link = network.add_link(1e9);
  LinkIndex other = network.add_link(1e9);

  Rig() { queue.grow(2); }
  ActivityIndex begin(std::uint32_t slot, double amount, Time now) {
    const std::vector<Load> loads = {{link, 1}};
    return begin_over(loads, slot, amount, now);
  }
  ActivityIndex begin_over(const std::vector<Load>& loads, std::uint32_t slot, double amount,
                           Time now) {
    const auto transfer = transfers.prepare(Slot{slot}, slot, loads, amount);
    transfers.begin(transfer, now);
    return transfer;
  }
};

}  // namespace

TEST_CASE("transfers: a lone transfer ends after its amount over its rate") {
  Rig rig;
  (void)rig.begin(0, 1500, Time{100});
  CHECK(rig.transfers.dirty());
  rig.transfers.settle(Time{100});
  CHECK_FALSE(rig.transfers.dirty());
  CHECK(rig.queue.pop().at == Time{1600});
}

TEST_CASE("transfers: an end between two ns is rounded up") {
  Rig rig;
  const std::vector<Load> loads = {{rig.link, 3}};
  (void)rig.begin_over(loads, 0, 100.5, Time{});
  rig.transfers.settle(Time{});
  CHECK(rig.queue.pop().at == Time{302});
}

TEST_CASE("transfers: who joins later halves the rate from then on, who ends gives it back") {
  // 1000 bytes from 0, another 1000 from 400: the first has 600 left at 400 and ends at 1600; the
  // second then has 400 left.
  Rig rig;
  const auto first = rig.begin(0, 1000, Time{});
  rig.transfers.settle(Time{});
  (void)rig.begin(1, 1000, Time{400});
  rig.transfers.settle(Time{400});
  auto end = rig.queue.pop();
  CHECK(end.slot == Slot{0});
  CHECK(end.at == Time{1600});
  rig.transfers.end(first);
  rig.transfers.settle(Time{1600});
  end = rig.queue.pop();
  CHECK(end.slot == Slot{1});
  CHECK(end.at == Time{2000});
}

TEST_CASE("transfers: two equal ones on one link both take twice the lone time") {
  Rig rig;
  (void)rig.begin(0, 1000, Time{});
  (void)rig.begin(1, 1000, Time{});
  rig.transfers.settle(Time{});
  CHECK(rig.queue.pop().at == Time{2000});
  CHECK(rig.queue.pop().at == Time{2000});
}

TEST_CASE("transfers: on different links they do not feel each other") {
  Rig rig;
  (void)rig.begin(0, 1000, Time{});
  const std::vector<Load> loads = {{rig.other, 1}};
  (void)rig.begin_over(loads, 1, 500, Time{});
  rig.transfers.settle(Time{});
  CHECK(rig.queue.pop().at == Time{500});
  CHECK(rig.queue.pop().at == Time{1000});
}

TEST_CASE("transfers: a change of capacity counts from the instant it is told") {
  Rig rig;
  (void)rig.begin(0, 1000, Time{});
  rig.transfers.settle(Time{});
  rig.network.set_capacity(rig.link, 0.5e9);
  rig.transfers.settle(Time{200});
  CHECK(rig.queue.pop().at == Time{1800});
}

}  // namespace cohort
