#include "experiments/measured_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

#include "policies/errors.h"
#include "sim/scenario.h"
#include "traces/link_fit.h"
#include "traces/units.h"

namespace cohort {
namespace {

using Nodes = std::vector<std::vector<std::uint32_t>>;

constexpr double kSharedFrom = 1.5;  // side by side over alone
// A size feeds a fit when it takes at least this many times as long as the smallest one; the
// largest kFewestSizes do anyway.
constexpr double kMostlyTransfer = 2;
constexpr std::ptrdiff_t kFewestSizes = 3;

struct Link {
  double latency = 0;    // seconds, of one hop
  double bandwidth = 0;  // bytes per second, of one hop
  double worst_error = 0;
  std::uint64_t worst_bytes = 0;
};

const PatternResult* find(const std::vector<PatternResult>& results, const std::string& name) {
  const auto found = std::ranges::find(results, name, [](const auto& r) { return r.pattern.name; });
  return found == results.end() ? nullptr : &*found;
}

// Ranks of the pattern that work on the fullest host.
std::size_t at_work(const Pattern& pattern, const Nodes& nodes) {
  std::size_t most = 0;
  for (const auto& node : nodes) {
    std::size_t count = 0;
    for (const auto& group : pattern.groups)
      count += static_cast<std::size_t>(std::ranges::count_if(
          group, [&](auto rank) { return std::ranges::find(node, rank) != node.end(); }));
    most = std::max(most, count);
  }
  return most;
}

std::vector<CurvePoint> mostly_transfer(const std::vector<PatternTiming>& timings) {
  const auto first = std::ranges::find_if(timings, [&](const auto& timing) {
    return timing.seconds >= kMostlyTransfer * timings.front().seconds;
  });
  const auto taken = std::clamp(timings.end() - first, std::min(kFewestSizes, std::ssize(timings)),
                                std::ssize(timings));
  std::vector<CurvePoint> curve;
  for (const auto& timing : timings | std::views::drop(std::ssize(timings) - taken))
    curve.push_back({timing.bytes, timing.seconds, 0, {}});
  return curve;
}

Link fit(const PatternResult& result) {
  const AlphaBeta line = fit_alpha_beta(mostly_transfer(result.timings));
  Link link{line.latency_seconds, line.bytes_per_second, line.worst_error, line.worst_bytes};
  const auto g = static_cast<double>(result.pattern.groups.front().size());
  if (result.pattern.kind == Pattern::Kind::AllReduce) {
    link.latency /= 2 * (g - 1);
    link.bandwidth *= 2 * (g - 1) / g;
  }
  link.latency = std::max(0.0, link.latency);
  return link;
}

double longest(const PatternResult& result) { return result.timings.back().seconds; }

bool is_shared(const std::vector<PatternResult>& results) {
  const auto* alone = find(results, "pair inside a node");
  const auto* beside = find(results, "pairs inside a node, side by side");
  return alone != nullptr && beside != nullptr && longest(*beside) > kSharedFrom * longest(*alone);
}

nlohmann::ordered_json link_json(double bandwidth, double latency_seconds) {
  return {{"bandwidth", fmt::format("{:.5g}MB/s", bandwidth / 1e6)},
          {"latency", fmt::format("{:.4g}us", latency_seconds * 1e6)}};
}

class Fitter {
 public:
  Fitter(const std::vector<PatternResult>& results, const Nodes& nodes, std::uint32_t cpus)
      : results_(results), nodes_(nodes), cpus_(cpus) {}

  MeasuredCluster fit_all() {
    auto& spec = measured_.spec;
    auto& cluster = measured_.cluster;
    for (const auto& node : nodes_)
      cluster.gpus_per_node.push_back(static_cast<std::uint32_t>(node.size()));
    spec["nodes"] = nodes_.size();
    const bool even = std::ranges::all_of(
        cluster.gpus_per_node, [&](auto size) { return size == cluster.gpus_per_node.front(); });
    if (even) {
      spec["gpus_per_node"] = cluster.gpus_per_node.front();
    } else {
      spec["gpus_per_node"] = cluster.gpus_per_node;
    }
    const auto workers =
        std::accumulate(cluster.gpus_per_node.begin(), cluster.gpus_per_node.end(), 0U);
    cluster.compute_factor.assign(workers, 1);
    fit_nic();
    fit_fabric();
    spec["collective"] = "ring";
    warn();
    check();
    return std::move(measured_);
  }

 private:
  void fit_nic() {
    auto& cluster = measured_.cluster;
    cluster.nic_bandwidth.assign(nodes_.size(), 1e12);
    cluster.nic_latency.assign(nodes_.size(), Time{});
    const auto* across = find(results_, "across nodes");
    if (across == nullptr) return;
    const Link link = fit(*across);
    note(*across, link);
    cluster.nic_bandwidth.assign(nodes_.size(), link.bandwidth);
    cluster.nic_latency.assign(nodes_.size(), from_seconds_up(link.latency / 2));
    measured_.spec["nic"] = link_json(link.bandwidth, link.latency / 2);
  }

  void fit_fabric() {
    const auto* pair = find(results_, "pair inside a node");
    if (pair == nullptr) return;
    const Link link = fit(*pair);
    note(*pair, link);
    auto& cluster = measured_.cluster;
    cluster.fabric = is_shared(results_) ? FabricKind::Shared : FabricKind::Switched;
    const bool shared = cluster.fabric == FabricKind::Shared;
    cluster.fabric_bandwidth = link.bandwidth * (shared ? 2 : 1);
    cluster.fabric_latency = from_seconds_up(link.latency);
    auto json = link_json(cluster.fabric_bandwidth, link.latency);
    json["kind"] = shared ? "shared" : "switched";
    measured_.spec["fabric"] = std::move(json);
  }

  void note(const PatternResult& result, const Link& link) {
    if (at_work(result.pattern, nodes_) > cpus_)
      throw InputError("--measure",
                       fmt::format("{}: more ranks at work on a host than its {} CPUs; "
                                   "no link can be fitted",
                                   result.pattern.name, cpus_));
    if (link.worst_error > kGoodFit)
      measured_.warnings.push_back(
          fmt::format("{}: the line through the times is up to {:.0f} % off, at {} B",
                      result.pattern.name, link.worst_error * 100, link.worst_bytes));
  }

  void warn() {
    for (const auto& result : results_)
      if (const auto ranks = at_work(result.pattern, nodes_); ranks > cpus_)
        measured_.warnings.push_back(
            fmt::format("{}: {} ranks at work on a host of {} CPUs; its times feed no fit",
                        result.pattern.name, ranks, cpus_));
  }

  // Worker numbers of a pattern's groups: workers are numbered node by node.
  Phase phase(const Pattern& pattern) const {
    Phase phase;
    for (const auto& group : pattern.groups) {
      Group workers;
      std::uint32_t worker = 0;
      for (const auto& node : nodes_)
        for (const auto rank : node) {
          if (std::ranges::find(group, rank) != group.end()) workers.push_back(worker);
          ++worker;
        }
      phase.push_back(std::move(workers));
    }
    return phase;
  }

  double predict(const Pattern& pattern, std::uint64_t bytes) const {
    Scenario scenario;
    scenario.cluster = measured_.cluster;
    scenario.workload.compute = Time{1};
    scenario.workload.payload = static_cast<double>(bytes);
    scenario.policy = find_policy("static");
    Options given;
    given.set("phases", Phases{phase(pattern)});
    scenario.options = resolve(*scenario.policy, given);
    scenario.stop.steps_per_worker = 1;
    return simulate(scenario).elapsed_seconds;
  }

  void check() {
    for (const auto& result : results_) {
      if (result.pattern.kind != Pattern::Kind::AllReduce) continue;
      for (const auto& timing : result.timings)
        measured_.checks.push_back({result.pattern.name, timing.bytes, timing.seconds,
                                    predict(result.pattern, timing.bytes)});
    }
  }

  const std::vector<PatternResult>& results_;
  const Nodes& nodes_;
  std::uint32_t cpus_;
  MeasuredCluster measured_;
};

}  // namespace

MeasuredCluster fit_cluster(const std::vector<PatternResult>& results,
                            const std::vector<std::vector<std::uint32_t>>& nodes,
                            std::uint32_t cpus) {
  if (results.empty())
    throw InputError("--measure", "there is one rank; allowed: two at least, to have a link");
  return Fitter(results, nodes, cpus).fit_all();
}

}  // namespace cohort
