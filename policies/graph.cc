#include "policies/graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "policies/errors.h"

namespace cohort {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;  // the smaller worker first

const Phase* given_edges(const OptionValue& graph) {
  const auto* lists = std::get_if<Phases>(&graph);
  return lists ? &lists->front() : nullptr;
}

std::vector<Edge> edges_of(const OptionValue& graph, std::uint32_t workers) {
  std::vector<Edge> edges;
  if (const auto* given = given_edges(graph)) {
    for (const auto& pair : *given) edges.emplace_back(std::minmax(pair[0], pair[1]));
  } else {
    for (std::uint32_t w = 0; w + 1 < workers; ++w) edges.emplace_back(w, w + 1);
    if (workers > 2) edges.emplace_back(0, workers - 1);
  }
  return edges;
}

void check_edge(const Group& edge, const Topology& topology, const std::string& where) {
  if (edge.size() != 2)
    throw InputError(where,
                     "found " + std::to_string(edge.size()) + " workers; an edge joins exactly 2");
  for (const auto worker : edge)
    if (worker >= topology.workers())
      throw InputError(where, "found worker " + std::to_string(worker) +
                                  "; there are workers 0 to " +
                                  std::to_string(topology.workers() - 1));
  if (edge[0] == edge[1])
    throw InputError(where, "joins worker " + std::to_string(edge[0]) + " to itself");
}

}  // namespace

OptionSpec graph_option(std::string default_choice) {
  return {
      .name = "graph",
      .type = OptionType::Graph,
      .default_value = std::move(default_choice),
      .choices = {"ring", "complete"},
      .description = "who neighbours whom: ring, complete, or a list of edges [[0,1],[1,2],...]",
      .source = "[Lian 2017]"};
}

void check_graph(const OptionValue& graph, const Topology& topology) {
  const auto* given = given_edges(graph);
  if (!given) return;
  std::vector<Edge> seen;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const auto& edge = (*given)[i];
    const auto where = "/graph/" + std::to_string(i);
    check_edge(edge, topology, where);
    seen.emplace_back(std::minmax(edge[0], edge[1]));
  }
  std::ranges::sort(seen);
  const auto twice = std::ranges::adjacent_find(seen);
  if (twice != seen.end())
    throw InputError("/graph", "the edge between workers " + std::to_string(twice->first) +
                                   " and " + std::to_string(twice->second) + " comes twice");
}

Graph::Graph(const OptionValue& graph, const Topology& topology)
    : workers_(topology.workers()), complete_(graph == OptionValue(std::string("complete"))) {
  if (complete_) {
    neighbours_.resize(workers_);
    std::iota(neighbours_.begin(), neighbours_.end(), 0U);
    return;
  }
  const auto edges = edges_of(graph, workers_);
  first_.assign(workers_ + 1, 0);
  for (const auto& [a, b] : edges) {
    ++first_[a + 1];
    ++first_[b + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  neighbours_.resize(2 * edges.size());
  auto next = first_;
  for (const auto& [a, b] : edges) {
    neighbours_[next[a]++] = b;
    neighbours_[next[b]++] = a;
  }
  for (std::uint32_t w = 0; w < workers_; ++w)
    std::sort(neighbours_.begin() + first_[w], neighbours_.begin() + first_[w + 1]);
}

bool Graph::adjacent(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return false;
  return complete_ || std::ranges::binary_search(neighbours(a), b);
}

}  // namespace cohort
