#include "sim/stage_loads.h"

#include <algorithm>

namespace cohort {
namespace {

// The members from the front that are on the front's node.
std::span<const WorkerId> first_run(const Topology& topology, std::span<const WorkerId> members) {
  const auto node = topology.node_of(members.front());
  std::size_t count = 1;
  while (count < members.size() && topology.node_of(members[count]) == node) ++count;
  return members.first(count);
}

}  // namespace

template <class Visit>
std::uint32_t StageLoads::for_each_node(std::span<const WorkerId> members, Visit visit) const {
  std::uint32_t nodes = 0;
  while (!members.empty()) {
    const auto run = first_run(links_.topology(), members);
    visit(node_of(run.front()), run);
    members = members.subspan(run.size());
    ++nodes;
  }
  return nodes;
}

void StageLoads::hop(WorkerId from, WorkerId to, double weight) {
  const auto source = node_of(from);
  const auto target = node_of(to);
  repeats_ = true;
  endpoints_of_hop(from, to, weight);
  if (source == target) {
    hop_inside(from, to, weight);
    slowest_ = std::max(slowest_, links_.latency_inside());
    inside_ += weight;
    return;
  }
  between(source, target, weight);
  cross_host(source, weight);
  cross_host(target, weight);
  if (links_.graph() != nullptr) return;
  cross_nics_of_hop(from, to, weight);
  cross_core(weight);
}

void StageLoads::ring(std::span<const WorkerId> members) {
  endpoints_of_ring(members);
  if (node_of(members.front()) == node_of(members.back())) return inside(members, true);
  auto previous = node_of(members.back());
  const auto nodes = for_each_node(members, [&](std::uint32_t node, std::span<const WorkerId> run) {
    inside(run, false);
    between(previous, node, 1);
    cross_host(node, 2);
    nics_evenly(node, run);
    previous = node;
  });
  cross_core(nodes);
}

void StageLoads::rings_inside_nodes(std::span<const WorkerId> members) {
  endpoints_of_ring(members);
  for_each_node(members, [&](std::uint32_t, std::span<const WorkerId> run) { inside(run, true); });
}

void StageLoads::rings_across_nodes(std::span<const WorkerId> members) {
  endpoints_of_ring(members);
  auto previous = node_of(members.back());
  for_each_node(members, [&](std::uint32_t node, std::span<const WorkerId> run) {
    const auto rings = static_cast<double>(run.size());
    between(previous, node, rings);
    cross_host(node, 2 * rings);
    nics_of_each(node, run);
    previous = node;
  });
  cross_core(static_cast<double>(members.size()));
}

// The hops among members of one node, to the first again when closed.
void StageLoads::inside(std::span<const WorkerId> run, bool closed) {
  const auto hops = run.size() - (closed ? 0 : 1);
  if (hops == 0) return;
  slowest_ = std::max(slowest_, links_.latency_inside());
  inside_ += static_cast<double>(hops);
  if (!links_.switched()) {
    cross(links_.bus(node_of(run.front())), static_cast<double>(hops));
    return;
  }
  const auto ports = links_.ports_of(node_of(run.front()));
  for (std::size_t i = 0; i < hops; ++i) {
    cross(ports.out(run[i]), 1);
    cross(ports.in(run[i + 1 == run.size() ? 0 : i + 1]), 1);
  }
}

void StageLoads::hop_inside(WorkerId from, WorkerId to, double weight) {
  if (links_.switched()) {
    cross(links_.port_out(from), weight);
    cross(links_.port_in(to), weight);
  } else {
    cross(links_.bus(node_of(from)), weight);
  }
}

// A hop between nodes, but for what its members and its two nodes decide: NICs, core and hosts.
void StageLoads::between(std::uint32_t from, std::uint32_t to, double weight) {
  slowest_ = std::max(slowest_, links_.latency_between(from, to));
  between_ += weight;
  if (auto* graph = links_.graph()) {
    graph->for_each_step(from, to, [&](RouteStep step) { cross(links_.graph_link(step), weight); });
    repeats_ = true;
  }
}

// Local ranks rise along a run, and their NICs with them.
template <class Visit>
void StageLoads::for_each_nic(std::span<const WorkerId> run, Visit visit) const {
  for (std::size_t begin = 0; begin < run.size();) {
    const auto nic = links_.nic_of(run[begin]);
    auto end = begin + 1;
    while (end < run.size() && links_.nic_of(run[end]) == nic) ++end;
    visit(nic, static_cast<double>(end - begin));
    begin = end;
  }
}

// One crossing up and one down of a node, split evenly over the NICs of its members.
void StageLoads::nics_evenly(std::uint32_t node, std::span<const WorkerId> run) {
  if (links_.graph() != nullptr) return;
  double distinct = 0;
  for_each_nic(run, [&](std::uint32_t, double) { ++distinct; });
  for_each_nic(run, [&](std::uint32_t nic, double) { cross_nic(node, nic, 1 / distinct); });
}

// One crossing up and one down of each member's NIC.
void StageLoads::nics_of_each(std::uint32_t node, std::span<const WorkerId> run) {
  if (links_.graph() != nullptr) return;
  for_each_nic(run, [&](std::uint32_t nic, double rings) { cross_nic(node, nic, rings); });
}

void StageLoads::cross_nics_of_hop(WorkerId from, WorkerId to, double weight) {
  const auto source = node_of(from);
  const auto target = node_of(to);
  cross(links_.nic_up(source, links_.nic_of(from)), weight);
  cross(links_.nic_down(target, links_.nic_of(to)), weight);
  if (links_.acknowledgements() == 0) return;
  weight *= links_.acknowledgements();
  cross(links_.nic_down(source, links_.nic_of(from)), weight);
  cross(links_.nic_up(target, links_.nic_of(to)), weight);
}

// One crossing up and one down, and the acknowledgements of both.
void StageLoads::cross_nic(std::uint32_t node, std::uint32_t nic, double weight) {
  weight *= 1 + links_.acknowledgements();
  cross(links_.nic_up(node, nic), weight);
  cross(links_.nic_down(node, nic), weight);
}

void StageLoads::cross_host(std::uint32_t node, double weight) {
  if (links_.has_hosts()) cross(links_.host(node), weight);
}

void StageLoads::endpoints_of_hop(WorkerId from, WorkerId to, double weight) {
  if (links_.has_endpoint(from)) cross(links_.endpoint_out(from), weight);
  if (links_.has_endpoint(to)) cross(links_.endpoint_in(to), weight);
}

// In a closed ring every member sends once and receives once.
void StageLoads::endpoints_of_ring(std::span<const WorkerId> members) {
  if (!links_.has_endpoint(members.front())) return;
  for (const auto member : members) endpoints_of_hop(member, member, 1);
}

void StageLoads::cross_core(double weight) {
  if (const auto core = links_.core()) cross(*core, weight);
}

void StageLoads::merge() {
  if (!repeats_ && links_.duplex()) return;
  const auto begin = out_.begin() + static_cast<std::ptrdiff_t>(first_);
  if (out_.end() - begin < 2) return;
  std::sort(begin, out_.end(), [](const Load& a, const Load& b) {
    return a.link != b.link ? a.link < b.link : a.weight < b.weight;
  });
  auto last = begin;
  for (auto load = begin + 1; load != out_.end(); ++load) {
    if (load->link == last->link) {
      last->weight += load->weight;
    } else {
      *++last = *load;
    }
  }
  out_.erase(last + 1, out_.end());
}

}  // namespace cohort
