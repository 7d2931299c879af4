#include "training/mixing_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "policies/errors.h"
#include "policies/graph.h"
#include "policies/smart.h"
#include "training/idle_run.h"

namespace cohort {
namespace {

constexpr std::uint32_t kMostWorkers = 512;

struct Subject {
  const PolicyEntry& entry;
  const Options& options;
  const Topology& topology;
  std::uint64_t seed;

  [[nodiscard]] std::uint32_t workers() const { return topology.workers(); }
  [[nodiscard]] std::vector<IdleRound> run(std::uint32_t rounds) const {
    auto blocking = options;
    if (blocking.has("timing")) blocking.set("timing", std::string("blocking"));
    const auto policy = make_policy(entry, blocking, topology, seed);
    return idle_run(*policy, topology, rounds);
  }
  [[nodiscard]] std::optional<std::int64_t> count(const std::string& name) const {
    return options.maybe<std::int64_t>(name);
  }
};

MixingMatrix identity(std::uint32_t workers) { return MixingMatrix::Identity(workers, workers); }

MixingMatrix all_equal(std::uint32_t workers) {
  return MixingMatrix::Constant(workers, workers, 1.0 / workers);
}

// E[W] of an exchangeable scheme whose W is a projection with the given rate.
MixingMatrix exchangeable(std::uint32_t workers, double rate) {
  return rate * identity(workers) + (1 - rate) * all_equal(workers);
}

// Replaces x by W x, n numbers at a time: much cheaper than the product with a matrix.
void apply(const IdleSync& sync, MixingMatrix& x) {
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(x.cols());
  for (const auto& member : sync.members) mean += member.weight * x.row(index(member.worker));
  for (const auto& member : sync.members)
    if (member.role != Role::Forwarder && member.role != Role::Source)
      x.row(index(member.worker)) = mean;
}

MixingReport sampled(const Subject& subject, std::uint32_t rounds_a_unit, const std::string& unit) {
  const auto n = subject.workers();
  const auto units =
      static_cast<std::uint32_t>(std::clamp(4e9 / (double{1} * n * n * n), 200.0, 20000.0));
  MixingMatrix mean = MixingMatrix::Zero(n, n);
  MixingMatrix squares = mean;
  std::size_t taken = 0;
  const auto take = [&](const MixingMatrix& w) {
    mean += w;
    squares.noalias() += w.transpose() * w;
    ++taken;
  };
  const auto rounds = subject.run(units * std::max(rounds_a_unit, 1U));
  for (std::size_t first = 0; first < rounds.size(); first += std::max(rounds_a_unit, 1U)) {
    MixingMatrix w = identity(n);
    for (std::size_t r = first; r < first + std::max(rounds_a_unit, 1U); ++r)
      for (const auto& sync : rounds[r]) {
        apply(sync, w);
        if (rounds_a_unit == 0) take(std::exchange(w, identity(n)));
      }
    if (rounds_a_unit > 0) take(w);
  }
  if (taken == 0) return {.note = "Nothing is ever synchronised."};
  const auto scale = 1.0 / static_cast<double>(taken);
  return {.rates = {{"rho", mixing_rate(scale * squares), false,
                     "per " + unit + ", estimated from " + std::to_string(taken) +
                         " of them, everybody idle"}},
          .matrix = scale * mean};
}

MixingReport closed_form(const Subject& subject, double rate, const std::string& meaning) {
  return {.rates = {{"rho", rate, true, meaning}}, .matrix = exchangeable(subject.workers(), rate)};
}

MixingReport report_all_reduce(const Subject& subject) {
  return closed_form(subject, 0, "per synchronisation: all workers end with their mean");
}

MixingReport report_parameter_server(const Subject& subject) {
  if (subject.options.get<std::string>("mode") == "sync")
    return closed_form(subject, 0, "per step: all workers take the same parameters");
  return {.note =
              "Asynchronous workers take the servers' parameters one by one; their own mean is "
              "not kept, so there is no mixing rate."};
}

MixingReport report_d_psgd(const Subject& subject) {
  MixingMatrix product = identity(subject.workers());
  const auto rounds = subject.run(1);
  for (const auto& sync : rounds.front())
    product.row(index(sync.members.front().worker)) =
        mixing_matrix(subject.workers(), sync.kind, sync.members)
            .row(index(sync.members.front().worker));
  return {.rates = {{"rho", squared_rate(product), true,
                     "per step: one neighbour mix of all workers at once"}},
          .matrix = product};
}

// Mean over a uniformly drawn requesting worker and its uniformly drawn partner.
MixingReport report_ad_psgd(const Subject& subject) {
  const auto n = subject.workers();
  const bool everyone = subject.options.get<bool>("exclusive_all");
  const OptionValue complete = std::string("complete");
  const Graph graph(everyone ? complete : subject.options.all().at("graph"), subject.topology);
  MixingMatrix mean = MixingMatrix::Zero(n, n);
  std::uint32_t requesters = 0;
  for (std::uint32_t a = 0; a < n; a += everyone ? 1 : 2) {
    std::vector<std::uint32_t> partners;
    for (const auto b : graph.neighbours(a))
      if (b != a && (everyone || b % 2 == 1)) partners.push_back(b);
    if (partners.empty()) continue;
    ++requesters;
    for (const auto b : partners) {
      const Member pair[] = {{WorkerId{a}, Role::Blocking, 0.5}, {WorkerId{b}, Role::Passive, 0.5}};
      mean += mixing_matrix(n, SyncKind::PairMean, pair) / static_cast<double>(partners.size());
    }
  }
  if (requesters == 0) return {.note = "No worker has a partner: nothing is ever synchronised."};
  mean /= requesters;
  return {.rates = {{"rho", mixing_rate(mean), true,
                     "per exchange of a uniformly drawn worker with a uniformly drawn neighbour"}},
          .matrix = mean};
}

MixingReport report_static(const Subject& subject) {
  const auto phases = subject.options.maybe<Phases>("phases");
  const auto period = phases ? static_cast<std::uint32_t>(phases->size()) : 4;
  MixingMatrix product = identity(subject.workers());
  for (const auto& round : subject.run(period))
    for (const auto& sync : round) apply(sync, product);
  const auto unit = "per period of " + std::to_string(period) + " steps, product P of its matrices";
  return {.rates = {{"lambda_2(P'P)", squared_rate(product), true, unit + ": one period"},
                    {"spectral radius of P - J/n", spectral_radius(product), true,
                     unit + ": distance (not squared) in the long run"}},
          .matrix = product};
}

MixingReport report_one_group(const Subject& subject) {
  if (subject.count("vocabulary")) return sampled(subject, 0, "synchronisation");
  return closed_form(
      subject,
      one_group_rate(subject.workers(), static_cast<std::uint32_t>(*subject.count("group_size"))),
      "per synchronisation: one random group");
}

bool equal_nodes(const Topology& topology) {
  for (std::uint32_t node = 1; node < topology.nodes(); ++node)
    if (topology.workers_on(node) != topology.workers_on(0)) return false;
  return true;
}

// E[W]: of a node's mean, 1/L comes from the heads' mean, which is everybody's in the mean, the
// rest from the node itself.
MixingMatrix mean_inter_intra(const Topology& topology) {
  const auto per_node = topology.workers_on(0);
  MixingMatrix mean = all_equal(topology.workers()) / per_node;
  for (std::uint32_t node = 0; node < topology.nodes(); ++node)
    mean.block(node * per_node, node * per_node, per_node, per_node).array() +=
        (1 - 1.0 / per_node) / per_node;
  return mean;
}

MixingReport report_smart(const Subject& subject) {
  if (!subject.options.get<bool>("division") || !subject.options.get<bool>("group_buffer"))
    return report_one_group(subject);
  const auto& topology = subject.topology;
  const bool inter_intra = uses_inter_intra(subject.options, topology);
  const std::string unit = inter_intra ? "division (one inter and one intra phase)" : "division";
  if (subject.count("vocabulary")) return sampled(subject, inter_intra ? 2 : 1, unit);
  if (!inter_intra)
    return closed_form(
        subject,
        division_rate(subject.workers(), static_cast<std::uint32_t>(*subject.count("group_size"))),
        "per division of all workers, everybody idle");
  const auto heads = subject.count("head_group_size");
  if (topology.nodes() == 1 || !equal_nodes(topology) || (heads && *heads < topology.nodes()))
    return sampled(subject, 2, unit);
  return {.rates = {{"rho", inter_intra_rate(topology.workers_on(0)), true,
                     "per " + unit + ", everybody idle, heads in one group"}},
          .matrix = mean_inter_intra(topology)};
}

}  // namespace

MixingReport mixing_report(const PolicyEntry& entry, const Options& options,
                           const Topology& topology, std::uint64_t seed) {
  if (topology.workers() > kMostWorkers)
    throw InputError("--workers", "found " + std::to_string(topology.workers()) +
                                      "; mixing rates are computed for 1 to " +
                                      std::to_string(kMostWorkers) + " workers");
  const Subject subject{entry, options, topology, seed};
  if (subject.workers() == 1) return {.note = "A lone worker has nobody to mix with."};
  if (entry.name == "all-reduce") return report_all_reduce(subject);
  if (entry.name == "parameter-server") return report_parameter_server(subject);
  if (entry.name == "d-psgd") return report_d_psgd(subject);
  if (entry.name == "ad-psgd") return report_ad_psgd(subject);
  if (entry.name == "static") return report_static(subject);
  if (entry.name == "random") return report_one_group(subject);
  if (entry.name == "smart") return report_smart(subject);
  return sampled(subject, 0, "synchronisation");
}

}  // namespace cohort
