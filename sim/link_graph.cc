#include "sim/link_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "policies/errors.h"

namespace cohort {
namespace {

std::string pointer_to(std::size_t link) { return "/cluster/links/" + std::to_string(link); }

// Numbers nodes as they are and switches behind them, in the order of their first mention.
class VertexNumbers {
 public:
  explicit VertexNumbers(std::uint32_t nodes) : nodes_(nodes) {}

  std::uint32_t of(const GraphLink::End& end, std::size_t link) {
    if (const auto* name = std::get_if<std::string>(&end)) {
      const auto next = nodes_ + static_cast<std::uint32_t>(switches_.size());
      return switches_.try_emplace(*name, next).first->second;
    }
    const auto node = std::get<std::uint32_t>(end);
    if (node >= nodes_) {
      throw InputError(pointer_to(link), "there is no node " + std::to_string(node) +
                                             "; nodes are 0 to " + std::to_string(nodes_ - 1));
    }
    return node;
  }
  [[nodiscard]] std::uint32_t count() const {
    return nodes_ + static_cast<std::uint32_t>(switches_.size());
  }

 private:
  std::uint32_t nodes_;
  std::map<std::string, std::uint32_t> switches_;
};

}  // namespace

LinkGraph::LinkGraph(std::span<const GraphLink> links, std::uint32_t nodes) : nodes_(nodes) {
  VertexNumbers numbers(nodes);
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& link = links[i];
    const Edge edge{numbers.of(link.from, i), numbers.of(link.to, i), link.latency};
    if (edge.from == edge.to) {
      throw InputError(pointer_to(i), "link '" + link.name + "' joins an end to itself");
    }
    if (!(link.bandwidth > 0) || !std::isfinite(link.bandwidth)) {
      throw InputError(pointer_to(i),
                       "the bandwidth of link '" + link.name + "' must be finite and above zero");
    }
    edges_.push_back(edge);
  }
  vertices_ = numbers.count();
  trees_.resize(nodes_);
  check_connected(links);
}

void LinkGraph::check_connected(std::span<const GraphLink> links) {
  const auto& reached = routes_from(0);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    if (reached[node].known) continue;
    throw InputError("/cluster/links", "no way leads from node 0 to node " + std::to_string(node) +
                                           " over the " + std::to_string(links.size()) + " links");
  }
}

const std::vector<LinkGraph::Reached>& LinkGraph::routes_from(std::uint32_t source) {
  auto& reached = trees_[source];
  if (!reached.empty()) return reached;
  reached.resize(vertices_);
  reached[source].known = true;
  for (std::uint32_t hops = 0; reach_next(reached, hops); ++hops) {
  }
  return reached;
}

// From all vertices `hops` links away to their neighbours; false when there is none further.
bool LinkGraph::reach_next(std::vector<Reached>& reached, std::uint32_t hops) const {
  bool further = false;
  for (std::uint32_t link = 0; link < edges_.size(); ++link) {
    for (const bool forward : {true, false}) {
      const auto from = forward ? edges_[link].from : edges_[link].to;
      const auto to = forward ? edges_[link].to : edges_[link].from;
      if (!reached[from].known || reached[from].hops != hops) continue;
      const auto latency = reached[from].latency + edges_[link].latency;
      auto& there = reached[to];
      if (there.known && (there.hops <= hops || there.latency <= latency)) continue;
      there = {true, hops + 1, latency, {link, forward}, from};
      further = true;
    }
  }
  return further;
}

std::vector<std::uint32_t> LinkGraph::links_at(std::uint32_t node) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t link = 0; link < edges_.size(); ++link) {
    if (edges_[link].from == node || edges_[link].to == node) found.push_back(link);
  }
  return found;
}

}  // namespace cohort
