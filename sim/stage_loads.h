// The links that one stage of a synchronisation crosses, hop by hop (SEMANTICS 3).
//
// Hops between nodes cross the sender's NIC up and the receiver's NIC down (or their route through
// the graph of links), their acknowledgements the same NICs the other way, the core, and both
// nodes' host links; hops inside a node cross port out and
// port in, or the bus. Every hop crosses the endpoints of its workers. Groups are given in the
// order of their numbers, which is the order of their nodes. Lives for one stage; TransferPlanner
// makes one, describes the hops, and reads the sums.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/fair_share.h"
#include "sim/link_map.h"

namespace cohort {

class StageLoads {
 public:
  // Appends to `out`. Both outlive this.
  StageLoads(LinkMap& links, std::vector<Load>& out)
      : links_(links), out_(out), first_(out.size()) {}

  // `weight` of the amount goes from one member to another.
  void hop(WorkerId from, WorkerId to, double weight);
  // Once around: through the members of each node, then to the next node. At least two members.
  void ring(std::span<const WorkerId> members);
  // There and back without closing the ring. Members of one node, at least two.
  void chain(std::span<const WorkerId> members) { inside(members, false); }
  // A ring inside each node; at least two members on each.
  void rings_inside_nodes(std::span<const WorkerId> members);
  // A ring through the i-th members of all nodes, for each i. As many members on each node.
  void rings_across_nodes(std::span<const WorkerId> members);
  // Makes every link appear once. Call it after the last hop.
  void merge();

  [[nodiscard]] Time slowest_hop() const { return slowest_; }
  // Hops, each times its share of the amount.
  [[nodiscard]] double hops_between_nodes() const { return between_; }
  [[nodiscard]] double hops_inside_nodes() const { return inside_; }

 private:
  [[nodiscard]] std::uint32_t node_of(WorkerId member) const {
    return links_.topology().node_of(member);
  }
  void cross(LinkIndex link, double weight) { out_.push_back({link, weight}); }
  void inside(std::span<const WorkerId> run, bool closed);
  void hop_inside(WorkerId from, WorkerId to, double weight);
  void between(std::uint32_t from, std::uint32_t to, double weight);
  void nics_evenly(std::uint32_t node, std::span<const WorkerId> run);
  void nics_of_each(std::uint32_t node, std::span<const WorkerId> run);
  void endpoints_of_hop(WorkerId from, WorkerId to, double weight);
  void endpoints_of_ring(std::span<const WorkerId> members);
  void cross_nics_of_hop(WorkerId from, WorkerId to, double weight);
  void cross_nic(std::uint32_t node, std::uint32_t nic, double weight);
  void cross_host(std::uint32_t node, double weight);
  void cross_core(double weight);
  // Calls visit(node, its members) node by node; returns how many nodes there are.
  template <class Visit>
  std::uint32_t for_each_node(std::span<const WorkerId> members, Visit visit) const;
  // Calls visit(NIC, how many members use it) for each NIC of a node's members.
  template <class Visit>
  void for_each_nic(std::span<const WorkerId> run, Visit visit) const;

  LinkMap& links_;
  std::vector<Load>& out_;
  std::size_t first_;
  Time slowest_{};
  double between_ = 0;
  double inside_ = 0;
  bool repeats_ = false;  // a link may stand there twice
};

}  // namespace cohort
