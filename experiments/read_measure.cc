#include "experiments/read_measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "training/training_spec.h"

namespace cohort {
namespace {

constexpr std::size_t kMostCandidates = 1000;

void read_every(const SpecNode& node, MeasureSpec& measure) {
  if (node.json().is_string()) {
    measure.every = node.positive_time(kLongestTime);
  } else if (node.json().is_number()) {
    measure.every = node.count(1, kMostSteps);
  } else {
    node.refuse("a number of worker-steps, or a time with its unit such as \"10s\"");
  }
}

double read_rate(const SpecNode& node) { return node.positive_number(1e6); }

double read_momentum(const SpecNode& node) {
  const double momentum = node.number(0, 1);
  if (momentum == 1) node.refuse("a number of at least 0, below 1");
  return momentum;
}

std::vector<double> read_candidates(const SpecNode& list, double (*read)(const SpecNode&)) {
  const auto size = list.size("numbers");
  if (size == 0) list.refuse("at least one number");
  std::vector<double> candidates;
  for (std::size_t i = 0; i < size; ++i) {
    candidates.push_back(read(list.at(i)));
    if (std::ranges::count(candidates, candidates.back()) > 1)
      list.at(i).refuse("each number once");
  }
  return candidates;
}

std::uint64_t budget_of(const SpecNode& tune, const StopRule& stop, std::uint32_t workers) {
  constexpr std::uint64_t kFewest = 4;  // the shortest runs take a quarter
  if (const auto budget = tune.find("budget")) return budget->count(kFewest, kMostSteps);
  std::uint64_t budget = kMostSteps;
  if (stop.steps_per_worker) budget = std::min(budget, *stop.steps_per_worker * workers);
  if (stop.total_steps) budget = std::min(budget, *stop.total_steps);
  if (!stop.steps_per_worker && !stop.total_steps)
    tune.complain("the key \"budget\" is missing: /stop names no number of steps");
  if (budget < kFewest)
    tune.complain(fmt::format("/stop ends after {} steps; allowed: a \"budget\" of at least {}",
                              budget, kFewest));
  return budget;
}

TuneSpec read_tune(const SpecNode& node, const StopRule& stop, const SgdOptions& sgd,
                   std::uint32_t workers) {
  node.only_keys({"learning_rate", "momentum", "budget"});
  TuneSpec tune{.learning_rates = {sgd.learning_rate}, .momenta = {sgd.momentum}};
  if (const auto list = node.find("learning_rate"))
    tune.learning_rates = read_candidates(*list, read_rate);
  if (const auto list = node.find("momentum")) tune.momenta = read_candidates(*list, read_momentum);
  const auto candidates = tune.learning_rates.size() * tune.momenta.size();
  if (candidates < 2 || candidates > kMostCandidates)
    node.complain(
        fmt::format("found {} candidates; allowed: 2 to {}, one for each learning rate "
                    "with each momentum",
                    candidates, kMostCandidates));
  tune.budget = budget_of(node, stop, workers);
  return tune;
}

}  // namespace

double read_loss(const SpecNode& node) {
  constexpr double kMostLoss = 1e30;
  if (node.json().is_number() && node.json().get<double>() <= 0)
    node.refuse("a loss above 0, below which no model here comes");
  return node.positive_number(kMostLoss);
}

MeasureOfSpec read_measure(const std::optional<SpecNode>& node, const StopRule& stop,
                           const SgdOptions& sgd, std::uint32_t workers) {
  MeasureOfSpec result;
  auto& measure = result.measure;
  measure.target_loss = stop.loss;
  if (!node) return result;
  node->only_keys({"target_loss", "every", "samples", "replicas", "tune"});
  if (const auto target = node->find("target_loss")) measure.target_loss = read_loss(*target);
  if (const auto every = node->find("every")) read_every(*every, measure);
  if (const auto samples = node->find("samples"))
    measure.samples = static_cast<std::uint32_t>(samples->count(1, kMostSamples));
  if (const auto replicas = node->find("replicas")) measure.replicas = replicas->flag();
  if (const auto tune = node->find("tune")) result.tune = read_tune(*tune, stop, sgd, workers);
  return result;
}

}  // namespace cohort
