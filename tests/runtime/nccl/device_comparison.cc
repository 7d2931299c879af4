#include "tests/runtime/nccl/device_comparison.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "training/sgd.h"
#include "training/synthetic.h"
#include "training/worker_training.h"

namespace cohort {
namespace {

constexpr WorkerId kWorker{1};
constexpr std::uint32_t kComparedWorkers = 2;

std::shared_ptr<const Dataset> images(ImageShape shape) {
  auto set = make_synthetic({.side = 12, .training_samples = 300, .test_samples = 100});
  set.shape = shape;
  return std::make_shared<const Dataset>(std::move(set));
}

// The two side by side.
class Pair {
 public:
  Pair(const TrainingPlan& plan, Backend& backend)
      : task_(plan.training, *plan.dataset, kComparedWorkers, 1),
        trainer_(task_),
        host_(task_, kWorker, trainer_.parameters()),
        on_host_(trainer_.parameters()),
        unit_(backend.vectors()),
        model_(backend.model(plan)),
        parameters_(unit_, on_host_.size()),
        gradient_(unit_, on_host_.size()),
        velocity_(unit_, on_host_.size()) {
    if (task_.shards()) order_.emplace(*task_.shards(), kWorker);
    trainer_.initialise(on_host_);
    unit_.write(on_host_, parameters_.entries());
  }

  // On both.
  void step(std::uint64_t step) {
    const double expected = host_.compute(trainer_, on_host_, step);
    const double loss = gradient(step);
    found_.loss = std::max(found_.loss, std::abs(loss - expected) / std::abs(expected));
    if (step == 0) found_.gradient = difference(gradient_, host_.gradient());
    host_.apply(on_host_, samples_before(step));
    update(step);
  }
  void step_on_device(std::uint64_t step) {
    static_cast<void>(gradient(step));
    update(step);
  }

  [[nodiscard]] Differences found() {
    found_.parameters = difference(parameters_, on_host_);
    return found_;
  }

 private:
  [[nodiscard]] std::uint64_t samples_before(std::uint64_t step) const {
    return step * kComparedWorkers * task_.spec().batch;
  }

  [[nodiscard]] double gradient(std::uint64_t step) {
    const auto samples = order_ ? order_->batch(step) : std::span<const std::uint32_t>{};
    model_->follow();
    return model_->gradient(
        parameters_.entries(),
        {.seed = task_.seed(), .worker = kWorker, .step = step, .samples = samples},
        gradient_.entries());
  }

  void update(std::uint64_t step) {
    const auto& sgd = task_.spec().sgd;
    unit_.descend(
        sgd, learning_rate(sgd, samples_before(step)),
        {gradient_.entries(), parameters_.entries(), velocity_.entries(), parameters_.count()});
  }

  [[nodiscard]] double difference(const Buffer& buffer, std::span<const float> expected) const {
    std::vector<float> there(buffer.count());
    unit_.read(buffer.entries(), there);
    double furthest = 0;
    double largest = 0;
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (!std::isfinite(there[i])) return HUGE_VAL;
      furthest = std::max(furthest, std::abs(static_cast<double>(there[i]) - expected[i]));
      largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    }
    return furthest / largest;
  }

  TrainingTask task_;
  Trainer<float> trainer_;
  WorkerTraining<float> host_;
  std::vector<float> on_host_;
  VectorUnit& unit_;
  std::unique_ptr<ModelUnit> model_;
  Buffer parameters_, gradient_, velocity_;
  std::optional<DataOrder> order_;
  Differences found_;
};

}  // namespace

std::size_t parameters_of(const TrainingPlan& plan) {
  const auto& set = *plan.dataset;
  return make_model<float>(plan.training.model, set.shape, set.classes)->parameters();
}

std::vector<NamedPlan> small_plans() {
  std::vector<NamedPlan> plans;
  const auto add = [&plans](const std::string& name, ImageShape shape, const ModelOptions& model) {
    TrainingPlan plan;
    plan.dataset = images(shape);
    plan.training.model = model;
    plan.training.batch = 7;
    plan.training.sgd.learning_rate = 0.05;
    plan.training.sgd.momentum = 0.9;
    plan.training.sgd.weight_decay = 0.01;
    plans.push_back({name, plan});
  };
  add("quadratic", {1, 12, 12}, QuadraticOptions{});
  add("softmax", {1, 12, 12}, SoftmaxOptions{});
  add("mlp", {1, 12, 12}, MlpOptions{{33, 20}});
  add("cnn", {1, 12, 12}, CnnOptions{});
  add("cnn of odd sides", {1, 9, 16}, CnnOptions{{4, 6}, 3});
  add("cnn of channels", {4, 4, 9}, CnnOptions{{5, 3}, 5});
  return plans;
}

Differences compare_with_host(const TrainingPlan& plan, Backend& backend, std::uint64_t steps) {
  Pair pair(plan, backend);
  for (std::uint64_t step = 0; step < steps; ++step) pair.step(step);
  return pair.found();
}

double steps_a_second(const TrainingPlan& plan, Backend& backend) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kWarmUp = 20;
  constexpr std::chrono::milliseconds kMeasured{500};
  Pair pair(plan, backend);
  std::uint64_t step = 0;
  while (step < kWarmUp) pair.step_on_device(step++);
  const auto begin = Clock::now();
  while (Clock::now() - begin < kMeasured) pair.step_on_device(step++);
  return static_cast<double>(step - kWarmUp) /
         std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace cohort
