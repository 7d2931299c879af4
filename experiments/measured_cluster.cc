#include "experiments/measured_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <numeric>
#include <span>

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
constexpr std::size_t kFewestSizes = 3;
// Of a transfer's bytes, come back as acknowledgements: one of 66 B for each frame of 1514 B is
// 0.04.
constexpr double kMostAcknowledgements = 0.1;
constexpr double kFrame = 1514;  // bytes; a shorter window is none

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

std::span<const PatternTiming> largest_sizes(std::span<const PatternTiming> timings) {
  return timings.last(std::min(kFewestSizes, timings.size()));
}

std::span<const PatternTiming> mostly_transfer(std::span<const PatternTiming> timings) {
  const auto first = std::ranges::find_if(timings, [&](const auto& timing) {
    return timing.seconds >= kMostlyTransfer * timings.front().seconds;
  });
  const auto many = static_cast<std::size_t>(timings.end() - first);
  return many < kFewestSizes ? largest_sizes(timings) : timings.last(many);
}

Link fit(const PatternResult& result) {
  std::vector<CurvePoint> curve;
  for (const auto& timing : mostly_transfer(result.timings))
    curve.push_back({timing.bytes, timing.seconds, 0, {}});
  const AlphaBeta line = fit_alpha_beta(curve);
  Link link{line.latency_seconds, line.bytes_per_second, line.worst_error, line.worst_bytes};
  const auto g = static_cast<double>(result.pattern.groups.front().size());
  if (result.pattern.kind == Pattern::Kind::AllReduce) {
    link.latency /= 2 * (g - 1);
    link.bandwidth *= 2 * (g - 1) / g;
  }
  link.latency = std::max(0.0, link.latency);
  return link;
}

// What sigma gives such a lead to transfers of one size that share one link: with weights w the
// i-th of n ends after sum_j min(w_j / w_i, 1) / n of the whole time, so that the mean lead is (n -
// 1) / n * (1/2 - exp(sigma^2) Phi(-sqrt(2) sigma)).
double spread_of(double lead, double n) {
  constexpr double kLargest = 3;
  const auto excess = [&](double sigma) {
    const double tail = std::erfc(sigma) / 2;  // Phi(-sqrt(2) sigma)
    return (n - 1) / n * (0.5 - std::exp(sigma * sigma) * tail) - lead;
  };
  if (excess(0) >= 0) return 0;
  if (excess(kLargest) <= 0) return kLargest;
  const auto [below, above] = boost::math::tools::bisect(
      excess, 0.0, kLargest, boost::math::tools::eps_tolerance<double>(20));
  return (below + above) / 2;
}

double senders(const PatternResult& incast) {
  return static_cast<double>(incast.pattern.groups.front().size() - 1);
}

double thousandths(double value) { return std::round(value * 1e3) / 1e3; }

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
    fit_sharing();
    fit_window();
    spec["collective"] = "ring";
    warn();
    check();
    fit_communicator();  // last: the measurements that were checked had their communicators
    return std::move(measured_);
  }

 private:
  void fit_nic() {
    auto& cluster = measured_.cluster;
    cluster.nic_bandwidth.assign(nodes_.size(), 1e12);
    cluster.nic_latency.assign(nodes_.size(), Time{});
    const auto [pattern, link] = nic_link();
    if (pattern == nullptr) return;
    note(*pattern, link);
    const double one_way = one_way_bandwidth(link.bandwidth);
    cluster.nic_bandwidth.assign(nodes_.size(), one_way);
    cluster.nic_latency.assign(nodes_.size(), from_seconds_up(link.latency / 2));
    cluster.nic_acknowledgements = one_way / link.bandwidth - 1;
    measured_.spec["nic"] = link_json(one_way, link.latency / 2);
    measured_.spec["nic"]["acknowledgements"] = thousandths(cluster.nic_acknowledgements);
  }

  // Null where it was not measured, or with more ranks at work on a host than it has CPUs.
  const PatternResult* usable(const std::string& name) const {
    const auto* result = find(results_, name);
    return result != nullptr && at_work(result->pattern, nodes_) <= cpus_ ? result : nullptr;
  }

  struct FittedPattern {
    const PatternResult* pattern = nullptr;
    Link link{};
  };
  // Of the patterns that cross every NIC, the one with the median bandwidth, of two the larger one:
  // what disturbs a measurement slows it down.
  FittedPattern nic_link() const {
    std::vector<FittedPattern> fitted;
    for (const auto& [name, groups] : {std::pair{"across nodes", 1.0},
                                       {"across nodes, side by side", 2.0},
                                       {"everybody", 1.0}}) {
      const auto* result = usable(name);
      if (result == nullptr) continue;
      fitted.push_back({result, fit(*result)});
      fitted.back().link.bandwidth *= groups;
    }
    if (fitted.empty()) return {find(results_, "across nodes"), {}};
    const auto middle = fitted.begin() + static_cast<std::ptrdiff_t>(fitted.size() / 2);
    std::ranges::nth_element(fitted, middle, {},
                             [](const auto& each) { return each.link.bandwidth; });
    return *middle;
  }

  const PatternResult* fabric_pattern() const {
    const auto* ring = usable("inside a node");
    return ring != nullptr ? ring : find(results_, "pair inside a node");
  }

  void fit_fabric() {
    const auto* inside = fabric_pattern();
    if (inside == nullptr) return;
    Link link = fit(*inside);
    note(*inside, link);
    if (const auto* all = usable("everybody"))
      link.latency = std::min(link.latency, fit(*all).latency);
    auto& cluster = measured_.cluster;
    cluster.fabric = is_shared(results_) ? FabricKind::Shared : FabricKind::Switched;
    const bool shared = cluster.fabric == FabricKind::Shared;
    cluster.fabric_bandwidth = link.bandwidth * (shared ? 2 : 1);
    cluster.fabric_latency = from_seconds_up(link.latency);
    auto json = link_json(cluster.fabric_bandwidth, link.latency);
    json["kind"] = shared ? "shared" : "switched";
    measured_.spec["fabric"] = std::move(json);
  }

  const PatternResult* incast_pattern() const { return usable("to one rank at once"); }

  // What a NIC takes in while nothing but acknowledgements goes out: that of the rings,
  // `both_ways`, where it was not measured; no more above that than acknowledgements explain.
  double one_way_bandwidth(double both_ways) {
    const auto* incast = incast_pattern();
    if (incast == nullptr) return both_ways;
    const double one_way = std::max(both_ways, fit(*incast).bandwidth * senders(*incast));
    const double most = (1 + kMostAcknowledgements) * both_ways;
    if (one_way <= most) return one_way;
    measured_.warnings.push_back(fmt::format(
        "to one rank at once: {:.0f} % more bandwidth than the rings of all-reduces, more "
        "than acknowledgements take; the NIC's is {:.0f} % above that of the rings",
        (one_way / both_ways - 1) * 100, kMostAcknowledgements * 100));
    return most;
  }

  void fit_sharing() {
    const auto* incast = incast_pattern();
    if (incast == nullptr) return;
    std::vector<double> leads;
    for (const auto& timing : largest_sizes(incast->timings)) leads.push_back(timing.lead);
    std::ranges::sort(leads);
    const double spread = spread_of(leads[leads.size() / 2], senders(*incast));
    measured_.cluster.sharing_spread = spread;
    measured_.spec["sharing_spread"] = thousandths(spread);
  }

  // Beside long transfers a ping waits for the windows of all of them.
  void fit_window() {
    const auto* ping = usable("ping while others send to one rank");
    if (ping == nullptr) return;
    const double wait = longest(*ping) - ping->timings.front().seconds;
    const double window = wait * measured_.cluster.nic_bandwidth.front() / (senders(*ping) - 1);
    if (window < kFrame) return;
    measured_.cluster.nic_window = window;
    measured_.spec["nic"]["window"] = fmt::format("{:.4g}kB", window / 1e3);
  }

  void fit_communicator() {
    const auto* made = find(results_, "across nodes");
    if (made == nullptr) made = find(results_, "inside a node");
    measured_.cluster.communicator_setup = from_seconds_up(made->create_seconds);
    measured_.spec["communicator"] = {
        {"setup", fmt::format("{:.4g}us", made->create_seconds * 1e6)}};
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
