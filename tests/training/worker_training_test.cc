// A worker's step in the orders that policies need, and the equivalences they must keep.
#include "training/worker_training.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/training/accuracy.h"
#include "tests/training/union_sgd.h"
#include "training/synthetic.h"

namespace cohort {
namespace {

using test::initial_model;
using test::largest_difference;
using test::union_sgd;

constexpr std::uint32_t kWorkers = 4;
constexpr std::uint64_t kSteps = 100;

const Dataset& small_set() {
  static const Dataset set = make_synthetic({.training_samples = 1024, .test_samples = 256});
  return set;
}

template <typename T>
class Workers {
 public:
  explicit Workers(const TrainingTask& task) : trainer(task) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      all.emplace_back(task, WorkerId{w}, trainer.parameters());
      models.push_back(initial_model<T>(task));
    }
  }
  void compute(std::uint64_t step) {
    for (std::uint32_t w = 0; w < kWorkers; ++w)
      REQUIRE(std::isfinite(all[w].compute(trainer, models[w], step)));
  }
  void apply() {
    for (std::uint32_t w = 0; w < kWorkers; ++w) all[w].apply(models[w], 0);
  }
  void average_models() {
    const auto mean = mean_of([&](std::uint32_t w) { return std::span<const T>(models[w]); });
    for (auto& model : models) model = mean;
  }
  void average_gradients() {
    const auto mean =
        mean_of([&](std::uint32_t w) { return std::span<const T>(all[w].gradient()); });
    for (auto& worker : all) std::ranges::copy(mean, worker.gradient().begin());
  }
  std::vector<T> mean_model() {
    return mean_of([&](std::uint32_t w) { return std::span<const T>(models[w]); });
  }

  Trainer<T> trainer;
  std::vector<WorkerTraining<T>> all;
  std::vector<std::vector<T>> models;

 private:
  std::vector<T> mean_of(auto part) {
    std::vector<T> mean(trainer.parameters());
    for (std::uint32_t w = 0; w < kWorkers; ++w)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += part(w)[i] / T{kWorkers};
    return mean;
  }
};

template <typename T>
double all_reduce_against_single(const ModelOptions& model) {
  const TrainingTask task({.model = model, .sgd = {.learning_rate = 0.2}}, small_set(), kWorkers,
                          3);
  Workers<T> workers(task);
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    workers.compute(step);
    workers.apply();
    workers.average_models();
  }
  REQUIRE(largest_difference(workers.models[0], initial_model<T>(task)) > 0.05);
  return largest_difference(workers.models[0], union_sgd<T>(task, kWorkers, kSteps));
}

TEST_CASE("all-reduce of softmax regression equals SGD on the union of the batches") {
  CHECK(all_reduce_against_single<double>(SoftmaxOptions{}) < 1e-10);
}

TEST_CASE("all-reduce of an MLP in single precision equals SGD on the union of the batches") {
  CHECK(all_reduce_against_single<float>(MlpOptions{{64}}) < 1e-4);
}

TEST_CASE("averaging gradients equals averaging models from equal starts") {
  const TrainingTask task({.model = MlpOptions{{16}}}, small_set(), kWorkers, 3);
  Workers<double> of_models(task), of_gradients(task);
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    of_models.compute(step);
    of_models.apply();
    of_models.average_models();
    of_gradients.compute(step);
    of_gradients.average_gradients();
    of_gradients.apply();
  }
  CHECK(largest_difference(of_models.models[0], of_gradients.models[0]) < 1e-10);
}

TEST_CASE("with momentum kept local, averaging models equals averaging gradients as well") {
  const TrainingTask task(
      {.model = SoftmaxOptions{}, .sgd = {.learning_rate = 0.05, .momentum = 0.9}}, small_set(),
      kWorkers, 3);
  Workers<double> of_models(task), of_gradients(task);
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    of_models.compute(step);
    of_models.apply();
    of_models.average_models();
    of_gradients.compute(step);
    of_gradients.average_gradients();
    of_gradients.apply();
  }
  CHECK(largest_difference(of_models.models[0], of_gradients.models[0]) < 1e-10);
  CHECK_FALSE(std::ranges::equal(of_models.all[0].velocity(), of_models.all[1].velocity()));
}

TEST_CASE("both orders of update and average end with the same mean, not with the same models") {
  const TrainingTask task({.model = SoftmaxOptions{}}, small_set(), kWorkers, 3);
  Workers<double> update_first(task), average_first(task);
  for (auto* workers : {&update_first, &average_first}) {
    workers->compute(0);
    workers->apply();  // replicas differ from here on
    workers->compute(1);
  }
  update_first.apply();
  update_first.average_models();
  average_first.average_models();
  average_first.apply();
  CHECK(largest_difference(update_first.mean_model(), average_first.mean_model()) < 1e-12);
  CHECK(largest_difference(average_first.models[0], average_first.models[1]) > 1e-4);
}

TEST_CASE("a stale gradient is taken where the step began and applied to what is there now") {
  const TrainingTask task({.model = SoftmaxOptions{}, .sgd = {.learning_rate = 0.5}}, small_set(),
                          kWorkers, 3);
  Workers<double> workers(task);
  const auto start = workers.models[0];
  std::vector<double> now = start;
  for (auto& number : now) number += 1;
  (void)workers.all[0].compute(workers.trainer, start, 7);
  workers.all[0].apply(now, 0);
  for (std::size_t i = 0; i < now.size(); ++i)
    CHECK(now[i] == doctest::Approx(start[i] + 1 - 0.5 * workers.all[0].gradient()[i]));
}

TEST_CASE("a worker's gradient depends on seed, worker and step, not on the thread's history") {
  const TrainingTask task({.model = CnnOptions{}}, small_set(), kWorkers, 3);
  Trainer<float> used(task), fresh(task);
  const auto x = initial_model<float>(task);
  WorkerTraining<float> one(task, WorkerId{1}, x.size()), other(task, WorkerId{1}, x.size());
  (void)other.compute(used, x, 31);
  (void)used.evaluate(x, small_set().test);
  const double loss = other.compute(used, x, 5);
  CHECK(loss == one.compute(fresh, x, 5));
  CHECK(std::ranges::equal(one.gradient(), other.gradient()));
}

TEST_CASE("training that diverges shows as a loss that is not finite") {
  const TrainingTask task({.model = MlpOptions{{16}}, .sgd = {.learning_rate = 1e6}}, small_set(),
                          1, 3);
  Trainer<float> trainer(task);
  auto x = initial_model<float>(task);
  WorkerTraining<float> worker(task, WorkerId{0}, x.size());
  bool finite = true;
  for (std::uint64_t step = 0; finite && step < 200; ++step) {
    finite = std::isfinite(worker.compute(trainer, x, step));
    worker.apply(x, 0);
  }
  CHECK_FALSE(finite);
}

TEST_CASE("softmax regression learns a linear teacher to above 0.93") {
  CHECK(test::accuracy_after({.model = SoftmaxOptions{}}, make_synthetic({}), 10) > 0.93);
}

}  // namespace
}  // namespace cohort
