#include "sim/link_graph.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "policies/errors.h"
#include "tests/sim/network.h"

namespace cohort {
namespace {

using End = GraphLink::End;

GraphLink link(const std::string& name, const End& from, const End& to, int latency_us = 10'000) {
  return {name, from, to, 100e6, Time{1000} * latency_us};
}

// cases/platforms/dogbone.xml: S1, S2, C1, C2 are nodes 0 to 3; 100 MB/s and 10 ms each.
ClusterSpec dogbone() {
  auto cluster = cluster_of(4, 1);
  const End left = std::string("left");
  const End right = std::string("right");
  cluster.links = {link("1", 0U, left), link("2", left, right), link("3", right, 2U),
                   link("4", 1U, left), link("5", right, 3U)};
  return cluster;
}

// One worker sends to the server of one node.
std::vector<Member> sends(std::uint32_t worker, std::uint32_t node) {
  return {{WorkerId{worker}}, {WorkerId{4 + node}, Role::Server}};
}

std::vector<std::uint32_t> route(LinkGraph& graph, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> links;
  graph.for_each_step(from, to, [&](RouteStep step) { links.insert(links.begin(), step.link); });
  return links;
}

}  // namespace

TEST_CASE("dogbone: S1-C1 alone has 100 MB/s and 30 ms") {
  Network network(dogbone(), 4);
  const auto plan = network.plan(SyncKind::ServerPush, sends(0, 2), 1e9);
  CHECK(plan.stages.front().latency == Time{30'000'000});
  CHECK(network.planner().lone_seconds(plan) == exactly(0.030 + 1e9 / 100e6));
  CHECK(plan.inter_node_bytes == 1e9);
}

TEST_CASE("dogbone: S1-C1 and S2-C2 at once have exactly 50 MB/s each on link 2") {
  Network network(dogbone(), 4);
  const std::vector plans{network.plan(SyncKind::ServerPush, sends(0, 2), 1e9),
                          network.plan(SyncKind::ServerPush, sends(1, 3), 1e9)};
  CHECK(network.transfer_seconds(plans) == std::vector{20.0, 20.0});
}

TEST_CASE("dogbone: opposite ways over link 2 do not meet, unless duplex is off") {
  const auto ends = [](const TransferPlanner::Options& options) {
    Network network(dogbone(), 4, options);
    const std::vector plans{network.plan(SyncKind::ServerPush, sends(0, 2), 1e9),
                            network.plan(SyncKind::ServerPush, sends(3, 1), 1e9)};
    return network.transfer_seconds(plans);
  };
  CHECK(ends({}) == std::vector{10.0, 10.0});
  CHECK(ends({.duplex = false}) == std::vector{20.0, 20.0});
}

TEST_CASE("link graph: a ring crosses every link of its hops' routes") {
  Network network(dogbone());
  const auto plan = network.mean(everybody(network.topology()), 1e9);
  // 0-1 and 2-3 over two links, 1-2 and 3-0 over three: link 2 once each way.
  CHECK(plan.stages.front().latency == Time{6 * 30'000'000});
  CHECK(network.planner().lone_seconds(plan) == exactly(6 * 0.030 + 1.5e9 / 100e6));
  CHECK(plan.loads.size() == 10);
}

TEST_CASE("link graph: a node that is slow slows all its links, and recovers") {
  Network network(dogbone(), 4);
  const std::vector plans{network.plan(SyncKind::ServerPush, sends(0, 2), 1e9)};
  network.planner().slow_nic(2, 4);
  CHECK(network.transfer_seconds(plans) == std::vector{40.0});
  network.planner().slow_nic(2, 1);
  CHECK(network.transfer_seconds(plans) == std::vector{10.0});
}

TEST_CASE("link graph: fewest links win, then the lower latency, then the first listed") {
  const End hub = std::string("hub");
  const End other = std::string("other");
  const std::vector links{link("slow", 0U, hub, 9),   link("slow", hub, 1U, 9),
                          link("fast", 0U, other, 1), link("fast", other, 1U, 1),
                          link("direct", 1U, 2U, 50), link("again", 1U, 2U, 50)};
  LinkGraph graph(links, 3);
  CHECK(route(graph, 0, 1) == std::vector<std::uint32_t>{2, 3});
  CHECK(route(graph, 1, 2) == std::vector<std::uint32_t>{4});
  CHECK(route(graph, 2, 0) == std::vector<std::uint32_t>{4, 3, 2});
  CHECK(graph.latency(2, 0) == Time{52'000});
}

TEST_CASE("link graph: what does not fit the nodes is refused with its place") {
  const auto refusal = [](const std::vector<GraphLink>& links, std::uint32_t nodes) {
    try {
      LinkGraph graph(links, nodes);
    } catch (const InputError& error) {
      return error.where();
    }
    return std::string("accepted");
  };
  CHECK(refusal({link("a", 0U, 1U)}, 2) == "accepted");
  CHECK(refusal({link("a", 0U, 1U)}, 3) == "/cluster/links");
  CHECK(refusal({link("a", 0U, 1U), link("b", 1U, 2U)}, 2) == "/cluster/links/1");
  CHECK(refusal({link("a", 1U, 1U)}, 2) == "/cluster/links/0");
  auto broken = link("a", 0U, 1U);
  broken.bandwidth = 0;
  CHECK(refusal({broken}, 2) == "/cluster/links/0");
}

}  // namespace cohort
