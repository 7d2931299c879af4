#include "experiments/read_stragglers.h"

#include <fmt/format.h>

#include <set>

namespace cohort {
namespace {

constexpr double kMostSlowdown = 1e4;
constexpr double kMostRate = 1e6;

std::vector<std::uint32_t> read_indices(const SpecNode& list, std::string_view what,
                                        std::uint32_t bound) {
  const auto size = list.size(what);
  if (size == 0) list.refuse(fmt::format("at least one of the {}", what));
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < size; ++i) {
    result.push_back(static_cast<std::uint32_t>(list.at(i).count(0, bound - 1)));
    if (!seen.insert(result.back()).second) list.at(i).refuse("each number once");
  }
  return result;
}

Bernoulli read_bernoulli(const SpecNode& node, const StragglerLimits& limits) {
  node.only_keys({"kind", "scope", "probability", "factor"});
  return {node.need("probability").probability(limits.workers),
          node.need("factor").number(1, kMostSlowdown)};
}

Fixed read_fixed(const SpecNode& node, const StragglerLimits& limits) {
  node.only_keys({"kind", "scope", "workers", "factor"});
  return {read_indices(node.need("workers"), "workers", limits.workers),
          node.need("factor").number(1, kMostSlowdown)};
}

Burst read_burst(const SpecNode& node, const StragglerLimits& limits) {
  node.only_keys({"kind", "scope", "enter", "leave", "factor"});
  return {node.need("enter").probability(limits.workers),
          node.need("leave").probability(limits.workers),
          node.need("factor").number(1, kMostSlowdown)};
}

StragglerSpec read_jitter(const SpecNode& node) {
  constexpr double kMostSigma = 10;
  constexpr double kMostShape = 1e6;
  constexpr std::string_view kAllowed = "lognormal, exponential, pareto";
  if (!node.find("distribution"))
    node.complain(fmt::format("the key \"distribution\" is missing; allowed: {}", kAllowed));
  StragglerSpec result;
  switch (node.need("distribution").choice({"lognormal", "exponential", "pareto"})) {
    case 0:
      node.only_keys({"kind", "scope", "distribution", "sigma"});
      result.model = Lognormal{node.need("sigma").number(0, kMostSigma)};
      break;
    case 1:
      node.only_keys({"kind", "scope", "distribution", "mean"});
      result.model = ShiftedExponential{node.need("mean").time()};
      break;
    default:
      node.only_keys({"kind", "scope", "distribution", "shape", "scale"});
      result.model = Pareto{node.need("shape").positive_number(kMostShape),
                            node.need("scale").positive_time(kLongestTime)};
  }
  return result;
}

// As many rows as there are entities of the scope.
std::uint32_t entities(Scope scope, const StragglerLimits& limits) {
  if (scope == Scope::Worker) return limits.workers;
  return scope == Scope::Node ? limits.nodes : 1;
}

void check_length(const SpecNode& node, const ComputeTrace& trace, std::uint32_t rows,
                  const StragglerLimits& limits) {
  const auto file = node.need("file");
  if (trace.workers() != rows) {
    file.complain(
        fmt::format("the trace has {} workers, the run {}; allowed: the same, or \"repeat\": true",
                    trace.workers(), rows));
  }
  if (!limits.steps_per_worker) {
    file.complain(
        "without stop.steps_per_worker the trace may end before the run; allowed: \"repeat\": "
        "true");
  }
  if (trace.steps() < *limits.steps_per_worker) {
    file.complain(
        fmt::format("the trace has {} steps, the run {}; allowed: as many, or \"repeat\": true",
                    trace.steps(), *limits.steps_per_worker));
  }
}

Replay read_trace(const SpecNode& node, Scope scope, const StragglerLimits& limits,
                  SpecFiles& files, StragglersOfSpec& result) {
  node.only_keys({"kind", "scope", "file", "as", "repeat"});
  Replay replay;
  const auto trace = files.trace(node.need("file"));
  replay.trace = trace.times;
  if (const auto as = node.find("as")) {
    replay.as = as->choice({"seconds", "factor"}) == 0 ? Replay::As::Seconds : Replay::As::Factor;
  }
  if (const auto repeat = node.find("repeat")) replay.repeat = repeat->flag();
  if (!replay.repeat) check_length(node, *replay.trace, entities(scope, limits), limits);
  if (replay.as == Replay::As::Factor && replay.trace->median() == Time{0}) {
    node.need("file").complain(
        "the median of its times is 0, so no factor can be had of them; allowed: a median above "
        "zero, "
        "or \"as\": \"seconds\"");
  }
  if (replay.as == Replay::As::Seconds) result.recorded_median = replay.trace->median();
  result.trace_fingerprints.push_back(trace.fingerprint);
  return replay;
}

LinkStraggler read_link_straggler(const SpecNode& node, const StragglerLimits& limits) {
  node.only_keys({"kind", "nodes", "enter", "leave", "factor"});
  if (!limits.has_nics) node.complain("a cluster with links has no NICs that could turn slow");
  LinkStraggler link;
  link.nodes = read_indices(node.need("nodes"), "nodes", limits.nodes);
  link.enter_per_second = node.need("enter").number(0, kMostRate);
  link.leave_per_second = node.need("leave").number(0, kMostRate);
  link.factor = node.need("factor").number(1, kMostSlowdown);
  return link;
}

void read_straggler(const SpecNode& node, const StragglerLimits& limits, SpecFiles& files,
                    StragglersOfSpec& result) {
  if (!node.json().is_object()) node.refuse("an object with a \"kind\"");
  const auto kind =
      node.need("kind").choice({"bernoulli", "fixed", "burst", "jitter", "trace", "link"});
  constexpr std::size_t kLink = 5;
  if (kind == kLink) {
    result.links.push_back(read_link_straggler(node, limits));
    return;
  }
  constexpr Scope kScopes[] = {Scope::Worker, Scope::Node, Scope::All};
  const auto scope = node.find("scope");
  StragglerSpec model;
  model.scope = scope ? kScopes[scope->choice({"worker", "node", "all"})] : Scope::Worker;
  switch (kind) {
    case 0:
      model.model = read_bernoulli(node, limits);
      break;
    case 1:
      model.model = read_fixed(node, limits);
      break;
    case 2:
      model.model = read_burst(node, limits);
      break;
    case 3:
      model.model = read_jitter(node).model;
      break;
    default:
      model.model = read_trace(node, model.scope, limits, files, result);
  }
  result.compute.push_back(std::move(model));
}

}  // namespace

StragglersOfSpec read_stragglers(const SpecNode& list, const StragglerLimits& limits,
                                 SpecFiles& files) {
  constexpr std::size_t kMostModels = 64;  // each has a random stream of its own
  StragglersOfSpec result;
  const auto size = list.size("straggler models");
  if (size > kMostModels)
    list.complain(fmt::format("found {} models; allowed: at most {}", size, kMostModels));
  for (std::size_t i = 0; i < size; ++i) read_straggler(list.at(i), limits, files, result);
  if (result.recorded_median && result.compute.size() > 1) {
    list.complain(
        "a trace that replays seconds stands beside other compute models; allowed: it alone, or "
        "\"as\": \"factor\"");
  }
  return result;
}

}  // namespace cohort
