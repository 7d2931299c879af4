// The gradients that workers take in their steps: asked for when a step begins, worked out by the
// training threads meanwhile (or, where there is one thread, when they are used), and handed out
// once.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <vector>

#include "training/shared_rows.h"
#include "training/trainer_threads.h"

namespace cohort {

template <typename T>
class LocalGradients {
 public:
  // Keeps the references. Gradients are rows of a pool of their own.
  LocalGradients(const TrainingTask& task, TrainerThreads<T>& threads, std::uint32_t workers);
  ~LocalGradients() { threads_.stop(); }
  LocalGradients(const LocalGradients&) = delete;
  LocalGradients& operator=(const LocalGradients&) = delete;

  // The worker begins `step` at the parameters in `read` as they are now. It has no gradient.
  void begin(std::uint32_t worker, std::uint64_t step, Row<T> read);
  // Begun and not taken.
  [[nodiscard]] bool has(std::uint32_t worker) const { return jobs_[worker].result.valid(); }
  // Throws InputError ("/workload/training") with worker and step when the loss of the batch is not
  // finite.
  [[nodiscard]] Row<T> take(std::uint32_t worker);
  // Nobody will ask for it: the worker is lost.
  void drop(std::uint32_t worker);

 private:
  struct Job {
    std::optional<DataOrder> order{};
    std::uint64_t step = 0;
    Row<T> read{}, gradient{};
    std::future<double> result{};
  };

  [[nodiscard]] double work(std::uint32_t worker, Trainer<T>& trainer);

  const TrainingTask& task_;
  TrainerThreads<T>& threads_;
  RowPool<T> rows_;
  std::vector<Job> jobs_;
};

}  // namespace cohort
