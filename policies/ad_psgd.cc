#include "policies/ad_psgd.h"

#include "policies/background.h"
#include "policies/errors.h"

namespace cohort {
namespace {

void check_bipartite(const Phases& edges) {
  for (std::size_t i = 0; i < edges.front().size(); ++i) {
    const auto& edge = edges.front()[i];
    if (is_active(edge[0]) != is_active(edge[1])) continue;
    throw InputError(
        "/graph/" + std::to_string(i),
        "joins two workers of the same side; an edge joins an active (even) worker and "
        "a passive (odd) one");
  }
}

void check_ad_psgd(const Options& options, const Topology& topology) {
  const auto& graph = options.all().at("graph");
  check_graph(graph, topology);
  if (options.get<bool>("exclusive_all")) {
    if (graph != OptionValue(std::string("complete")))
      throw InputError("/graph", "\"exclusive_all\" uses the complete graph; leave \"graph\" out");
    if (options.get<std::string>("passive") != "keeps_computing")
      throw InputError("/passive", "\"exclusive_all\" has no passive side; leave \"passive\" out");
  } else if (const auto* edges = std::get_if<Phases>(&graph)) {
    check_bipartite(*edges);
  }
}

std::unique_ptr<Policy> make_ad_psgd(const Options& options, const Topology& topology,
                                     std::uint64_t seed) {
  const auto workers = topology.workers();
  const bool exclusive = options.get<bool>("exclusive_all");
  const auto passive =
      options.get<std::string>("passive") == "blocks" ? Passive::Blocks : Passive::KeepsComputing;
  auto policy = exclusive
                    ? make_exclusive(workers, seed)
                    : make_bipartite(Graph(options.all().at("graph"), topology), passive, seed);
  if (options.get<std::string>("active") == "blocking") return policy;
  std::vector<bool> asks(workers);
  for (std::uint32_t w = 0; w < workers; ++w) asks[w] = exclusive || is_active(w);
  return in_the_background(std::move(policy), topology, std::move(asks));
}

OptionSpec choice(std::string name, std::vector<std::string> choices, std::string description) {
  return {.name = std::move(name),
          .type = OptionType::Choice,
          .default_value = choices.front(),
          .choices = choices,
          .description = std::move(description),
          .source = "[Lian 2018]"};
}

}  // namespace

bool is_active(std::uint32_t worker) { return worker % 2 == 0; }

PolicyEntry ad_psgd_entry() {
  return {
      .name = "ad-psgd",
      .where = Where::Local,
      .rule = "An active worker ends its step with a pair mean with a random passive neighbour.",
      .source = "[Lian 2018]",
      .options = {choice("active", {"blocking", "background"},
                         "whether the asking worker waits for its pair mean"),
                  choice("passive", {"keeps_computing", "blocks"},
                         "whether the served side serves while it computes, or only at its own "
                         "sync point"),
                  {.name = "exclusive_all",
                   .type = OptionType::Flag,
                   .default_value = false,
                   .description = "everybody asks anybody, and nobody is in two exchanges at once",
                   .source = "[Luo 2020]"},
                  graph_option("complete"),
                  order_option(),
                  endpoint_bandwidth_option()},
      .make = make_ad_psgd,
      .check = check_ad_psgd};
}

}  // namespace cohort
