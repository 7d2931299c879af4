#include "sim/transfer_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "policies/errors.h"
#include "sim/stage_loads.h"
#include "traces/units.h"

namespace cohort {
namespace {

// From here on the room for the loads is reserved, because doubling would take twice the memory,
// and given back after use.
constexpr std::size_t kLarge = 1024;

// Bus bandwidth factors of nccl-tests: the share of the payload that each hop of a ring carries.
double all_reduce_factor(std::size_t members) {
  const auto g = static_cast<double>(members);
  return 2 * (g - 1) / g;
}
double reduce_scatter_factor(std::size_t members) {
  const auto g = static_cast<double>(members);
  return (g - 1) / g;
}

void clear(TransferPlan& plan) {
  plan.stages.clear();
  plan.loads.clear();
  plan.inter_node_bytes = 0;
  plan.intra_node_bytes = 0;
}

// The one member whose role is, or is not, `role`.
const PackedMember& only_member(std::span<const PackedMember> members, Role role, bool is) {
  const PackedMember* found = nullptr;
  for (const auto& member : members) {
    if ((member.role() == role) != is) continue;
    if (found != nullptr) throw ContractError("transfer plan: too many members of one role");
    found = &member;
  }
  if (found == nullptr) throw ContractError("transfer plan: a member is missing");
  return *found;
}

}  // namespace

void TransferPlan::weigh(double weight) {
  for (Load& load : loads) load.weight *= weight;
  for (Stage& stage : stages) stage.amount /= weight;
}

void TransferPlan::trim() {
  if (loads.capacity() > kLarge) loads = std::vector<Load>();
}

TransferPlanner::TransferPlanner(const ClusterSpec& cluster, const Topology& topology,
                                 const Options& options, FairShare& network)
    : links_(cluster, topology, options, network), memory_bandwidth_(cluster.memory_bandwidth) {
  if (const auto* curve = std::get_if<MeasuredCurve>(&cluster.collective)) {
    curve_.emplace(*curve);
  } else {
    collective_ = std::get<Collective>(cluster.collective);
  }
}

void TransferPlanner::plan(SyncKind kind, std::span<const PackedMember> members, double bytes,
                           TransferPlan& out) {
  if (members.empty() || !(bytes >= 0) || !std::isfinite(bytes)) {
    throw ContractError("transfer plan: no members, or an impossible payload");
  }
  clear(out);
  switch (kind) {
    case SyncKind::GroupMean:
      return group_mean(members, bytes, out);
    case SyncKind::PairMean:
      return pair_mean(members, bytes, out);
    case SyncKind::NeighbourMix:
      return neighbour_mix(members, bytes, out);
    case SyncKind::ServerPush:
      return server_exchange(members, true, bytes, out);
    case SyncKind::ServerPull:
      return server_exchange(members, false, bytes, out);
  }
}

void TransferPlanner::group_mean(std::span<const PackedMember> members, double bytes,
                                 TransferPlan& out) {
  order_ring(members);
  if (ring_.size() < 2) {
    out.stages.emplace_back();
    return;
  }
  if (curve_) {
    measured(bytes, out);
  } else {
    collective(collective_, bytes, out);
  }
  out.stages.back().local = local_mean(bytes);
}

// Workers are numbered node by node, so the order of numbers is the order of nodes. Members in one
// block of 64 numbers, as on one node, are ordered by setting bits: nothing to compare.
void TransferPlanner::order_ring(std::span<const PackedMember> members) {
  constexpr std::uint32_t kBlock = 64;
  const auto first = index(members.front().worker()) / kBlock * kBlock;
  std::uint64_t present = 0;
  std::uint32_t differing = 0;
  for (const auto member : members) {
    const auto number = index(member.worker());
    present |= std::uint64_t{1} << number % kBlock;
    differing |= number ^ first;
  }
  ring_.clear();
  if (differing < kBlock) {
    for (; present != 0; present &= present - 1)
      ring_.push_back(WorkerId{first + static_cast<std::uint32_t>(std::countr_zero(present))});
  } else {
    for (const auto member : members) ring_.push_back(member.worker());
    if (!std::ranges::is_sorted(ring_)) std::ranges::sort(ring_);
  }
  if (links_.topology().is_server(ring_.back()))
    throw ContractError("transfer plan: a server has no place in a group mean");
}

void TransferPlanner::collective(Collective kind, double bytes, TransferPlan& out) {
  switch (kind) {
    case Collective::Ring:
      return ring(bytes, out);
    case Collective::Tree:
      return tree(bytes, out);
    case Collective::Hierarchical:
      return equal_members_per_node() < 2 ? ring(bytes, out) : hierarchical(bytes, out);
    case Collective::Auto:
      return fastest(bytes, out);
  }
}

void TransferPlanner::ring(double bytes, TransferPlan& out) {
  if (ring_.size() > kLarge) out.loads.reserve(out.loads.size() + 2 * ring_.size() + 1);
  StageLoads loads(links_, out.loads);
  loads.ring(ring_);
  close_stage(loads, 2 * (ring_.size() - 1), all_reduce_factor(ring_.size()) * bytes, out);
}

void TransferPlanner::tree(double bytes, TransferPlan& out) {
  const auto& topology = links_.topology();
  const bool one_node = topology.node_of(ring_.front()) == topology.node_of(ring_.back());
  StageLoads loads(links_, out.loads);
  if (one_node) {
    loads.chain(ring_);
  } else {
    loads.ring(ring_);
  }
  close_stage(loads, 2 * std::bit_width(ring_.size() - 1), 2 * bytes, out);
}

void TransferPlanner::hierarchical(double bytes, TransferPlan& out) {
  const std::size_t on_node = equal_members_per_node();
  const std::size_t nodes = ring_.size() / on_node;
  const auto inside = [&] {
    StageLoads loads(links_, out.loads);
    loads.rings_inside_nodes(ring_);
    close_stage(loads, on_node - 1, reduce_scatter_factor(on_node) * bytes, out);
  };
  inside();
  StageLoads across(links_, out.loads);
  across.rings_across_nodes(ring_);
  const double shard = bytes / static_cast<double>(on_node);
  close_stage(across, 2 * (nodes - 1), all_reduce_factor(nodes) * shard, out);
  inside();
}

void TransferPlanner::fastest(double bytes, TransferPlan& out) {
  ring(bytes, out);
  double best = lone_seconds(out);
  const auto consider = [&](Collective kind) {
    clear(candidate_);
    collective(kind, bytes, candidate_);
    const double seconds = lone_seconds(candidate_);
    if (seconds >= best) return;
    best = seconds;
    std::swap(out, candidate_);
  };
  consider(Collective::Tree);
  consider(Collective::Hierarchical);
}

void TransferPlanner::measured(double bytes, TransferPlan& out) {
  ring(bytes, out);
  out.stages.front().latency = Time::zero();
  if (bytes == 0) return;
  const double scale = lone_rate(out.loads, &LinkMap::nominal) / curve_->at(bytes);
  for (auto& load : out.loads) load.weight *= scale;
}

// How many members each node of the group has, if it has several nodes and all the same; else 0.
std::uint32_t TransferPlanner::equal_members_per_node() const {
  const auto& topology = links_.topology();
  std::size_t on_first = 0;
  const auto node_at = [&](std::size_t i) { return topology.node_of(ring_[i]); };
  while (on_first < ring_.size() && node_at(on_first) == node_at(0)) ++on_first;
  if (on_first == ring_.size() || ring_.size() % on_first != 0) return 0;
  for (std::size_t begin = 0; begin < ring_.size(); begin += on_first) {
    if (node_at(begin) != node_at(begin + on_first - 1)) return 0;
    if (begin > 0 && node_at(begin) == node_at(begin - 1)) return 0;
  }
  return static_cast<std::uint32_t>(on_first);
}

void TransferPlanner::pair_mean(std::span<const PackedMember> members, double bytes,
                                TransferPlan& out) {
  if (members.size() != 2) throw ContractError("transfer plan: a pair has two members");
  StageLoads loads(links_, out.loads);
  loads.hop(members[0].worker(), members[1].worker(), 1);
  loads.hop(members[1].worker(), members[0].worker(), 1);
  close_stage(loads, 1, bytes, out);
  out.stages.back().local = local_mean(bytes);
}

void TransferPlanner::neighbour_mix(std::span<const PackedMember> members, double bytes,
                                    TransferPlan& out) {
  const auto reader = only_member(members, Role::Source, false).worker();
  StageLoads loads(links_, out.loads);
  for (const auto& member : members) {
    if (member.role() == Role::Source) loads.hop(member.worker(), reader, 1);
  }
  close_stage(loads, 1, members.size() > 1 ? bytes : 0, out);
  out.stages.back().local = local_mean(bytes);
}

void TransferPlanner::server_exchange(std::span<const PackedMember> members, bool push,
                                      double bytes, TransferPlan& out) {
  const auto worker = only_member(members, Role::Server, false).worker();
  const auto servers = members.size() - 1;
  StageLoads loads(links_, out.loads);
  for (const auto& member : members) {
    if (member.role() != Role::Server) continue;
    const auto from = push ? worker : member.worker();
    const auto to = push ? member.worker() : worker;
    loads.hop(from, to, 1.0 / static_cast<double>(servers));
  }
  close_stage(loads, 1, servers > 0 ? bytes : 0, out);
}

void TransferPlanner::close_stage(StageLoads& loads, std::uint64_t steps, double amount,
                                  TransferPlan& out) const {
  const auto first =
      out.stages.empty() ? 0 : out.stages.back().first_load + out.stages.back().load_count;
  loads.merge();
  out.stages.push_back({.latency = loads.slowest_hop() * static_cast<std::int64_t>(steps),
                        .amount = amount,
                        .first_load = first,
                        .load_count = static_cast<std::uint32_t>(out.loads.size()) - first});
  out.inter_node_bytes += loads.hops_between_nodes() * amount;
  out.intra_node_bytes += loads.hops_inside_nodes() * amount;
}

Time TransferPlanner::local_mean(double bytes) const {
  if (!memory_bandwidth_) return Time::zero();
  return from_seconds_up(3 * bytes / *memory_bandwidth_);
}

double TransferPlanner::lone_seconds(const TransferPlan& plan) const {
  return lone_seconds(plan, &LinkMap::nominal);
}

double TransferPlanner::lone_seconds_now(const TransferPlan& plan) const {
  return lone_seconds(plan, &LinkMap::present);
}

double TransferPlanner::lone_seconds(const TransferPlan& plan, Capacity capacity) const {
  double seconds = 0;
  for (const auto& stage : plan.stages) {
    seconds += static_cast<double>((stage.latency + stage.local).count()) * 1e-9;
    if (stage.amount > 0) seconds += stage.amount / lone_rate(plan.loads_of(stage), capacity);
  }
  return seconds;
}

double TransferPlanner::lone_rate(std::span<const Load> loads, Capacity capacity) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const auto& load : loads) rate = std::min(rate, (links_.*capacity)(load.link) / load.weight);
  return rate;
}

}  // namespace cohort
