// What the average of several workers is held against: one process that takes the batches of all of
// them together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "training/worker_training.h"

namespace cohort::test {

template <typename T>
std::vector<T> initial_model(const TrainingTask& task) {
  const Trainer<T> trainer(task);
  std::vector<T> x(trainer.parameters());
  trainer.initialise(x);
  return x;
}

template <typename T>
std::vector<T> union_sgd(const TrainingTask& task, std::uint32_t workers, std::uint64_t steps) {
  const auto& set = task.dataset();
  const auto model = make_model<T>(task.spec().model, set.shape, set.classes);
  std::vector<DataOrder> orders;
  for (std::uint32_t w = 0; w < workers; ++w) orders.emplace_back(*task.shards(), WorkerId{w});
  Sgd<T> sgd(task.spec().sgd, model->parameters());
  auto x = initial_model<T>(task);
  std::vector<T> gradient(x.size());
  Batch<T> batch;
  for (std::uint64_t step = 0; step < steps; ++step) {
    std::vector<std::uint32_t> together;
    for (auto& order : orders) std::ranges::copy(order.batch(step), std::back_inserter(together));
    gather(set, set.training, together, batch);
    (void)model->gradient(x, batch, gradient);
    sgd.apply(gradient, x, 0);
  }
  return x;
}

template <typename A, typename B>
double largest_difference(const A& a, const B& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

}  // namespace cohort::test
