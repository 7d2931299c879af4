#include "experiments/learning_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "experiments/tuning.h"

namespace cohort {
namespace {

// `score` may be null.
void add_score(OrderedJson& row, const std::string& whose, const Score* score) {
  row[whose + "_loss"] = score != nullptr ? OrderedJson(score->loss) : OrderedJson();
  row[whose + "_accuracy"] = score != nullptr ? or_null(score->accuracy) : OrderedJson();
}

const Score* address(const std::optional<Score>& score) { return score ? &*score : nullptr; }

bool has_replicas(const std::vector<LearningPoint>& curve) {
  return !curve.empty() && std::ranges::all_of(curve, [](const LearningPoint& point) {
    return point.worst && point.replica;
  });
}

bool has_accuracy(const std::vector<LearningPoint>& curve) {
  return std::ranges::any_of(
      curve, [](const LearningPoint& point) { return point.mean.accuracy.has_value(); });
}

template <typename Value>
OrderedJson list_of(const std::vector<LearningPoint>& curve, Value value) {
  OrderedJson list = OrderedJson::array();
  for (const auto& point : curve) list.push_back(value(point));
  return list;
}

void add_replicas(OrderedJson& lists, const std::vector<LearningPoint>& curve) {
  lists["worst_loss"] = list_of(curve, [](const auto& p) { return p.worst->loss; });
  lists["replica_loss"] = list_of(curve, [](const auto& p) { return p.replica->loss; });
  if (!has_accuracy(curve)) return;
  lists["worst_accuracy"] =
      list_of(curve, [](const auto& p) { return or_null(p.worst->accuracy); });
  lists["replica_accuracy"] =
      list_of(curve, [](const auto& p) { return or_null(p.replica->accuracy); });
}

OrderedJson curve_json(const std::vector<LearningPoint>& curve) {
  OrderedJson lists{
      {"seconds", list_of(curve, [](const auto& p) { return p.seconds; })},
      {"samples", list_of(curve, [](const auto& p) { return p.samples; })},
      {"loss", list_of(curve, [](const auto& p) { return p.mean.loss; })},
      {"consensus_distance", list_of(curve, [](const auto& p) { return p.consensus_distance; })}};
  if (has_accuracy(curve))
    lists["accuracy"] = list_of(curve, [](const auto& p) { return or_null(p.mean.accuracy); });
  if (has_replicas(curve)) add_replicas(lists, curve);
  return lists;
}

void add_target(OrderedJson& row, const std::vector<LearningPoint>& curve,
                std::optional<double> target) {
  row["time_to_loss_seconds"] = target ? or_null(seconds_to_loss(curve, *target)) : OrderedJson();
  row["samples_to_loss"] = target ? or_null(samples_to_loss(curve, *target)) : OrderedJson();
}

void add_samples(OrderedJson& row, const std::vector<std::uint64_t>& samples) {
  row["samples"] = nullptr;
  row["slowest_worker_samples"] = nullptr;
  row["samples_per_worker"] = samples;
  if (samples.empty()) return;
  row["samples"] = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  row["slowest_worker_samples"] = std::ranges::min(samples);
}

}  // namespace

void add_learning(OrderedJson& row, const Learning& learning, std::optional<double> target_loss) {
  const auto& curve = learning.curve;
  const auto* last = curve.empty() ? nullptr : &curve.back();
  row["learning_rate"] = last != nullptr ? OrderedJson(learning.learning_rate) : OrderedJson();
  row["momentum"] = last != nullptr ? OrderedJson(learning.momentum) : OrderedJson();
  add_score(row, "final", last != nullptr ? &last->mean : nullptr);
  add_score(row, "worst", last != nullptr ? address(last->worst) : nullptr);
  add_score(row, "replica", last != nullptr ? address(last->replica) : nullptr);
  add_target(row, curve, target_loss);
  row["consensus_distance"] =
      last != nullptr ? OrderedJson(last->consensus_distance) : OrderedJson();
  row["effective_staleness"] = or_null(learning.effective_staleness);
  add_samples(row, learning.samples_per_worker);
  row["curve"] = curve_json(curve);
}

OrderedJson tuning_json(const Tuning& tuning) {
  OrderedJson list = OrderedJson::array();
  for (const auto& candidate : tuning.candidates)
    list.push_back({{"learning_rate", candidate.rates.learning_rate},
                    {"momentum", candidate.rates.momentum},
                    {"worker_steps", candidate.worker_steps},
                    {"loss", or_null(candidate.loss)},
                    {"samples", candidate.samples},
                    {"time_to_loss_seconds", or_null(candidate.seconds_to_loss)}});
  return list;
}

std::string why_nothing(const Tuning& tuning) {
  return fmt::format("/measure/tune: none of the {} candidates trained; the first: {}",
                     tuning.candidates.size(), tuning.candidates.front().error);
}

}  // namespace cohort
