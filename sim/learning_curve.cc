#include "sim/learning_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "policies/errors.h"
#include "traces/units.h"
#include "training/averages.h"

namespace cohort {
namespace {

std::optional<std::uint64_t> worker_steps(const Scenario& scenario) {
  const auto& gpus = scenario.cluster.gpus_per_node;
  std::uint64_t workers = 0;
  for (const auto count : gpus) workers += count;
  auto all = scenario.stop.total_steps;
  if (const auto quota = scenario.stop.steps_per_worker)
    all = std::min(all.value_or(UINT64_MAX), *quota * workers);
  return all;
}

// Mean of the rows' first numbers, summed in double.
template <typename T>
void mean_of(std::span<const RowNumbers<T>* const> rows, std::span<T> mean) {
  constexpr std::size_t kBlock = 1024;
  std::array<double, kBlock> sum;
  for (std::size_t first = 0; first < mean.size(); first += kBlock) {
    const auto count = std::min(kBlock, mean.size() - first);
    std::fill_n(sum.begin(), count, 0.0);
    for (const auto* row : rows)
      for (std::size_t i = 0; i < count; ++i) sum[i] += row->numbers()[first + i];
    for (std::size_t i = 0; i < count; ++i)
      mean[first + i] = static_cast<T>(sum[i] / static_cast<double>(rows.size()));
  }
}

}  // namespace

template <typename T>
LearningCurve<T>::LearningCurve(const Scenario& scenario, const TrainingTask& task,
                                TrainerThreads<T>& threads)
    : parameters_(threads.parameters()),
      measure_(scenario.training->measure),
      stop_loss_(scenario.stop.loss),
      learning_rate_(task.spec().sgd.learning_rate),
      spacing_(point_spacing(measure_, worker_steps(scenario), scenario.stop.seconds)),
      evaluator_(task, measure_.samples, threads),
      model_(parameters_) {}

template <typename T>
bool LearningCurve<T>::due(Time next, std::uint64_t steps) const {
  return std::holds_alternative<Time>(spacing_) ? next_time_ < next : next_steps_ <= steps;
}

template <typename T>
std::optional<Time> LearningCurve<T>::measure(Time now, Time next, std::uint64_t steps,
                                              const Models& models) {
  if (const auto* every = std::get_if<std::uint64_t>(&spacing_)) {
    next_steps_ = (steps / *every + 1) * *every;
    return add(now, models, measure_.replicas) ? std::optional(now) : std::nullopt;
  }
  for (; next_time_ < next; next_time_ += std::get<Time>(spacing_))
    if (add(next_time_, models, measure_.replicas)) return next_time_;
  return std::nullopt;
}

template <typename T>
void LearningCurve<T>::finish(Time end, const Models& models) {
  if (models.server.empty() && models.replicas.empty()) return;
  if (!points_.empty() && points_.back().seconds == seconds(end)) points_.pop_back();
  (void)add(end, models, !measure_.losses_only);
}

// Whether the stop rule's loss is reached.
template <typename T>
bool LearningCurve<T>::add(Time at, const Models& models, bool with_replicas) {
  if (models.server.empty()) {
    mean_of<T>(models.replicas, model_);
  } else {
    std::ranges::copy(models.server, model_.begin());
  }
  LearningPoint point;
  point.seconds = seconds(at);
  point.samples = models.samples;
  point.mean = measure_.losses_only ? Score{evaluator_.loss(model_), std::nullopt}
                                    : evaluator_.score(model_);
  if (!std::isfinite(point.mean.loss))
    throw InputError("/workload/training",
                     fmt::format("training diverged: after {} samples, the last of them of worker "
                                 "{}, step {}, the loss of the mean model is {}; allowed: a finite "
                                 "one, which a smaller learning rate than {} may give",
                                 models.samples, models.last_worker, models.last_step,
                                 std::abs(point.mean.loss), learning_rate_));
  if (!models.replicas.empty()) {
    point.consensus_distance = std::sqrt(mean_square(models));
    if (with_replicas) score_replicas(models, point);
  }
  points_.push_back(point);
  return stop_loss_ && point.mean.loss <= *stop_loss_;
}

template <typename T>
double LearningCurve<T>::mean_square(const Models& models) const {
  double squares = 0;
  for (const auto* row : models.replicas)
    squares += squared_distance(row->numbers().first(parameters_), std::span<const T>(model_));
  return squares / static_cast<double>(models.replicas.size());
}

// Workers that hold the same row have the same score.
template <typename T>
void LearningCurve<T>::score_replicas(const Models& models, LearningPoint& point) {
  std::map<const RowNumbers<T>*, Score> scores;
  for (const auto* row : models.replicas) {
    if (!scores.contains(row))
      scores.emplace(row, evaluator_.score(row->numbers().first(parameters_)));
    const Score& score = scores.at(row);
    if (!point.worst || score.loss > point.worst->loss) point.worst = score;
  }
  if (!models.first_lost) point.replica = scores.at(models.replicas.front());
}

template class LearningCurve<float>;
template class LearningCurve<double>;

}  // namespace cohort
