#include "sim/local_gradients.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "policies/errors.h"
#include "policies/prefetch.h"

namespace cohort {
namespace {

// Other replicas were at work meanwhile, and matrix products read this one in an order that the
// processor does not foresee.
template <typename T>
void fetch(std::span<const T> numbers) {
  constexpr std::size_t kLine = 64 / sizeof(T);
  for (std::size_t i = 0; i < numbers.size(); i += kLine) prefetch(&numbers[i]);
}

}  // namespace

template <typename T>
LocalGradients<T>::LocalGradients(const TrainingTask& task, TrainerThreads<T>& threads,
                                  std::uint32_t workers)
    : task_(task), threads_(threads), rows_(threads.parameters()), jobs_(workers) {
  if (!task.shards()) return;
  for (std::uint32_t worker = 0; worker < workers; ++worker)
    jobs_[worker].order.emplace(*task.shards(), WorkerId{worker});
}

template <typename T>
void LocalGradients<T>::begin(std::uint32_t worker, std::uint64_t step, Row<T> read) {
  Job& job = jobs_[worker];
  job.step = step;
  job.read = std::move(read);
  if (threads_.ahead()) job.gradient = rows_.take();
  job.result =
      threads_.submit([this, worker](Trainer<T>& trainer) { return work(worker, trainer); });
}

template <typename T>
double LocalGradients<T>::work(std::uint32_t worker, Trainer<T>& trainer) {
  Job& job = jobs_[worker];
  const auto samples = job.order ? job.order->batch(job.step) : std::span<const std::uint32_t>{};
  const auto read = job.read->numbers().first(rows_.length());
  fetch(read);
  return trainer.gradient(read, WorkerId{worker}, job.step, samples, job.gradient->writable());
}

template <typename T>
Row<T> LocalGradients<T>::take(std::uint32_t worker) {
  Job& job = jobs_[worker];
  if (!job.gradient) job.gradient = rows_.take();
  const double loss = job.result.get();
  job.read.reset();
  if (!std::isfinite(loss))
    throw InputError(
        "/workload/training",
        fmt::format("training diverged: the loss of worker {}, step {}, is {}; allowed: a "
                    "finite one, which a smaller learning rate than {} may give",
                    worker, job.step, std::abs(loss), task_.spec().sgd.learning_rate));
  return std::exchange(job.gradient, nullptr);
}

template <typename T>
void LocalGradients<T>::drop(std::uint32_t worker) {
  Job& job = jobs_[worker];
  if (job.result.valid() && threads_.ahead()) job.result.wait();
  job.result = {};
  job.read.reset();
  job.gradient.reset();
}

template class LocalGradients<float>;
template class LocalGradients<double>;

}  // namespace cohort
