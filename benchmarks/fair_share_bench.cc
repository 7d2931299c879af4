// The fair-share solver and the planner of transfers, apart from the simulator.
#include <benchmark/benchmark.h>

#include <vector>

#include "sim/fair_share.h"
#include "sim/transfer_plan.h"

namespace cohort {
namespace {

// A network of `links` equal links.
void add_links(FairShare& share, std::int64_t links) {
  share.reserve_links(static_cast<std::size_t>(links));
  for (std::int64_t i = 0; i < links; ++i) share.add_link(5e9);
}

// An activity that crosses `count` neighbouring links once each.
std::vector<Load> crossing(std::int64_t first, std::int64_t count) {
  std::vector<Load> loads;
  for (std::int64_t i = first; i < first + count; ++i) {
    loads.push_back({LinkIndex{static_cast<std::uint32_t>(i)}, 1});
  }
  return loads;
}

// Add, solve and remove one activity that shares nothing, on `range(0)` links.
void lone_activity(benchmark::State& state) {
  FairShare share;
  add_links(share, state.range(0));
  const auto loads = crossing(0, state.range(0));
  for (auto _ : state) {
    const auto activity = share.add(loads);
    benchmark::DoNotOptimize(share.solve().data());
    share.remove(activity);
    benchmark::DoNotOptimize(share.solve().data());
  }
}
BENCHMARK(lone_activity)->Arg(8)->Arg(12)->Arg(50'000);

// The same, beside `range(0)` activities of 8 loads that all share one of its links.
void shared_activity(benchmark::State& state) {
  FairShare share;
  add_links(share, 1 + 8 * (state.range(0) + 1));
  const auto loads_of = [](std::int64_t which) {
    auto loads = crossing(1 + 7 * which, 7);
    loads.push_back({LinkIndex{0}, 1});
    return loads;
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) share.add(loads_of(i));
  const auto loads = loads_of(state.range(0));
  for (auto _ : state) {
    const auto activity = share.add(loads);
    benchmark::DoNotOptimize(share.solve().data());
    share.remove(activity);
    benchmark::DoNotOptimize(share.solve().data());
  }
}
BENCHMARK(shared_activity)->Arg(1)->Arg(3)->Arg(100)->Arg(10'000);

// `nodes` nodes of 4 GPUs on a switched fabric.
ClusterSpec cluster_of(std::uint32_t nodes) {
  ClusterSpec cluster;
  cluster.gpus_per_node.assign(nodes, 4);
  cluster.nic_bandwidth.assign(nodes, 7e9);
  cluster.nic_latency.assign(nodes, Time{5'000});
  cluster.fabric_bandwidth = 10e9;
  cluster.fabric_latency = Time{3'000};
  return cluster;
}

// Plans synchronisations of `members` on 4 nodes.
void plan(benchmark::State& state, SyncKind kind, const std::vector<PackedMember>& members,
          Collective collective = Collective::Ring) {
  auto cluster = cluster_of(4);
  cluster.collective = collective;
  const Topology topology(cluster.gpus_per_node, 1);
  FairShare network;
  TransferPlanner planner(cluster, topology, {}, network);
  TransferPlan out;
  for (auto _ : state) {
    planner.plan(kind, members, 60e6, out);
    benchmark::DoNotOptimize(out.loads.data());
  }
}

std::vector<PackedMember> workers(std::initializer_list<std::uint32_t> numbers) {
  std::vector<PackedMember> members;
  for (const auto number : numbers) members.emplace_back(Member{WorkerId{number}});
  return members;
}

std::vector<PackedMember> worker_and_server() {
  return {PackedMember({WorkerId{5}}), PackedMember({WorkerId{16}, Role::Server})};
}

BENCHMARK_CAPTURE(plan, ring_in_a_node, SyncKind::GroupMean, workers({4, 5, 6, 7}));
BENCHMARK_CAPTURE(plan, ring_over_4_nodes, SyncKind::GroupMean, workers({0, 5, 10, 15}));
BENCHMARK_CAPTURE(plan, ring_over_2_nodes, SyncKind::GroupMean, workers({2, 0, 5, 7}));
BENCHMARK_CAPTURE(plan, auto_over_2_nodes, SyncKind::GroupMean, workers({0, 2, 5, 7}),
                  Collective::Auto);
BENCHMARK_CAPTURE(plan, pair, SyncKind::PairMean, workers({2, 9}));
BENCHMARK_CAPTURE(plan, push, SyncKind::ServerPush, worker_and_server());

// 8 pairs over 4 nodes, as AD-PSGD keeps them: one ends, another begins.
void contended_pairs(benchmark::State& state) {
  const auto cluster = cluster_of(4);
  const Topology topology(cluster.gpus_per_node);
  FairShare network;
  TransferPlanner planner(cluster, topology, {}, network);
  std::vector<TransferPlan> plans(16);
  for (std::uint32_t i = 0; i < 16; ++i) {
    planner.plan(SyncKind::PairMean, workers({i, (i + 5 + i % 3) % 16}), 60e6, plans[i]);
  }
  const auto begin = [&](std::uint32_t which) {
    return network.add(plans[which].loads_of(plans[which].stages.front()));
  };
  std::vector<ActivityIndex> active;
  for (std::uint32_t i = 0; i < 8; ++i) active.push_back(begin(i));
  std::uint32_t next = 0;
  for (auto _ : state) {
    network.remove(active[next % 8]);
    active[next % 8] = begin((next + 8) % 16);
    ++next;
    benchmark::DoNotOptimize(network.solve().data());
  }
}
BENCHMARK(contended_pairs);

// Everybody in groups of one node at once, on `range(0)` nodes of 4: time of one group's life, and
// the bytes that links and loads take for a worker.
void large_cluster(benchmark::State& state) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  const auto cluster = cluster_of(nodes);
  const Topology topology(cluster.gpus_per_node);
  FairShare network;
  TransferPlanner planner(cluster, topology, {}, network);
  TransferPlan out;
  const auto begin = [&](std::uint32_t node) {
    planner.plan(SyncKind::GroupMean, workers({4 * node, 4 * node + 1, 4 * node + 2, 4 * node + 3}),
                 60e6, out);
    return network.add(out.loads_of(out.stages.front()));
  };
  std::vector<ActivityIndex> active;
  for (std::uint32_t node = 0; node < nodes; ++node) active.push_back(begin(node));
  std::uint32_t next = 0;
  for (auto _ : state) {
    next = static_cast<std::uint32_t>((next + std::uint64_t{7919}) % nodes);
    network.remove(active[next]);
    active[next] = begin(next);
    benchmark::DoNotOptimize(network.solve().data());
  }
  state.counters["bytes_per_worker"] =
      static_cast<double>(network.memory_bytes()) / topology.workers();
}
BENCHMARK(large_cluster)->Arg(4)->Arg(25'000);

}  // namespace
}  // namespace cohort

BENCHMARK_MAIN();
