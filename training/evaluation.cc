#include "training/evaluation.h"

#include <algorithm>
#include <future>
#include <numeric>

#include "policies/errors.h"
#include "policies/random.h"

namespace cohort {
namespace {

constexpr std::size_t kChunk = 250;
constexpr std::uint32_t kEvaluated = 5;  // sub-stream of the data order
constexpr std::uint64_t kUsualPoints = 50;

// `count` of 0..all-1 without repetition, ascending.
std::vector<std::uint32_t> choose(std::uint32_t count, std::uint32_t all, std::uint64_t seed) {
  std::vector<std::uint32_t> indices(all);
  std::iota(indices.begin(), indices.end(), 0U);
  if (count >= all) return indices;
  Stream(seed, Purpose::DataOrder, 0, 0, kEvaluated).shuffle(std::span(indices));
  indices.resize(count);
  std::ranges::sort(indices);
  return indices;
}

std::uint32_t count_of(const Samples& samples) {
  return static_cast<std::uint32_t>(samples.size());
}

}  // namespace

template <typename T>
Evaluator<T>::Evaluator(const TrainingTask& task, std::uint32_t samples, TrainerThreads<T>& threads)
    : task_(task), threads_(threads) {
  if (!task.shards()) return;
  const auto& set = task.dataset();
  training_ = choose(samples, count_of(set.training), task.seed());
  test_ = choose(count_of(set.test), count_of(set.test), task.seed());
}

template <typename T>
Score Evaluator<T>::score(std::span<const T> parameters) {
  Score score{.loss = loss(parameters), .accuracy = std::nullopt};
  if (!task_.shards()) return score;
  const auto test = evaluate(parameters, task_.dataset().test, test_);
  score.accuracy = static_cast<double>(test.correct) / static_cast<double>(test.samples);
  return score;
}

template <typename T>
double Evaluator<T>::loss(std::span<const T> parameters) {
  const auto& samples = task_.dataset().training;
  if (!task_.shards()) {
    auto result =
        threads_.submit([&](Trainer<T>& trainer) { return trainer.evaluate(parameters, samples); });
    return result.get().loss_sum;
  }
  const auto training = evaluate(parameters, samples, training_);
  return training.loss_sum / static_cast<double>(training.samples);
}

template <typename T>
Evaluation Evaluator<T>::evaluate(std::span<const T> parameters, const Samples& samples,
                                  std::span<const std::uint32_t> indices) {
  std::vector<std::future<Evaluation>> chunks;
  for (std::size_t first = 0; first < indices.size(); first += kChunk) {
    const auto chunk = indices.subspan(first, std::min(kChunk, indices.size() - first));
    chunks.push_back(threads_.submit([parameters, &samples, chunk](Trainer<T>& trainer) {
      return trainer.evaluate(parameters, samples, chunk);
    }));
  }
  Evaluation all;
  for (auto& chunk : chunks) all += chunk.get();
  return all;
}

Spacing point_spacing(const MeasureSpec& measure, std::optional<std::uint64_t> worker_steps,
                      std::optional<Time> seconds) {
  if (const auto* steps = std::get_if<std::uint64_t>(&measure.every)) return *steps;
  if (const auto* time = std::get_if<Time>(&measure.every)) return *time;
  if (worker_steps)
    return std::max<std::uint64_t>(1, (*worker_steps + kUsualPoints - 1) / kUsualPoints);
  if (!seconds) throw ContractError("a run that nothing bounds");
  return std::max(Time{1}, *seconds / static_cast<std::int64_t>(kUsualPoints));
}

template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace cohort
