#include "training/worker_training.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cohort {
namespace {

constexpr std::size_t kEvaluatedAtOnce = 250;

bool needs_data(const ModelOptions& model) {
  return !std::holds_alternative<QuadraticOptions>(model);
}

}  // namespace

TrainingTask::TrainingTask(TrainingSpec spec, const Dataset& dataset, std::uint32_t workers,
                           std::uint64_t seed)
    : spec_(std::move(spec)), dataset_(dataset), seed_(seed) {
  check_training(spec_);
  if (needs_data(spec_.model))
    shards_.emplace(spec_.shards, dataset.training.labels,
                    ShardSetting{workers, spec_.batch, seed});
}

template <typename T>
Trainer<T>::Trainer(const TrainingTask& task)
    : task_(task),
      model_(make_model<T>(task.spec().model, task.dataset().shape, task.dataset().classes)) {}

template <typename T>
double Trainer<T>::gradient(std::span<const T> parameters, WorkerId worker, std::uint64_t step,
                            std::span<const std::uint32_t> samples, std::span<T> gradient) {
  if (task_.shards()) gather(task_.dataset(), task_.dataset().training, samples, batch_);
  batch_.size = task_.shards() ? samples.size() : task_.spec().batch;
  batch_.seed = task_.seed();
  batch_.worker = worker;
  batch_.step = step;
  return model_->gradient(parameters, batch_, gradient);
}

template <typename T>
Evaluation Trainer<T>::evaluate(std::span<const T> parameters, const Samples& samples) {
  if (!task_.shards()) {
    batch_.size = 1;
    return model_->evaluate(parameters, batch_);
  }
  Evaluation all;
  for (std::size_t first = 0; first < samples.size(); first += kEvaluatedAtOnce) {
    some_samples_.resize(std::min(kEvaluatedAtOnce, samples.size() - first));
    std::iota(some_samples_.begin(), some_samples_.end(), static_cast<std::uint32_t>(first));
    all += evaluate(parameters, samples, some_samples_);
  }
  return all;
}

template <typename T>
Evaluation Trainer<T>::evaluate(std::span<const T> parameters, const Samples& samples,
                                std::span<const std::uint32_t> indices) {
  gather(task_.dataset(), samples, indices, batch_);
  return model_->evaluate(parameters, batch_);
}

template <typename T>
WorkerTraining<T>::WorkerTraining(const TrainingTask& task, WorkerId worker, std::size_t parameters)
    : worker_(worker), sgd_(task.spec().sgd, parameters), gradient_(parameters) {
  if (task.shards()) order_.emplace(*task.shards(), worker);
}

template <typename T>
double WorkerTraining<T>::compute(Trainer<T>& trainer, std::span<const T> parameters,
                                  std::uint64_t step) {
  const auto samples = order_ ? order_->batch(step) : std::span<const std::uint32_t>{};
  return trainer.gradient(parameters, worker_, step, samples, gradient_);
}

template <typename T>
void WorkerTraining<T>::apply(std::span<T> parameters, std::uint64_t samples, double scale) {
  sgd_.apply(gradient_, parameters, samples, scale);
}

template class Trainer<float>;
template class Trainer<double>;
template class WorkerTraining<float>;
template class WorkerTraining<double>;

}  // namespace cohort
