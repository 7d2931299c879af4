#include "tests/runtime/training_job.h"

#include <doctest/doctest.h>

#include "tests/training/union_sgd.h"
#include "training/evaluation.h"
#include "training/synthetic.h"

namespace cohort {

using namespace std::chrono_literals;

std::shared_ptr<TrainingPlan> softmax_plan() {
  static const auto set = std::make_shared<const Dataset>(
      make_synthetic({.training_samples = 1024, .test_samples = 256}));
  TrainingPlan plan{.training = {}, .dataset = set, .measure = {}};
  plan.training.model = SoftmaxOptions{};
  plan.training.batch = 16;
  plan.measure.every = std::uint64_t{40};
  return std::make_shared<TrainingPlan>(plan);
}

std::shared_ptr<TrainingPlan> momentum_plan() {
  auto plan = softmax_plan();
  plan->training.sgd.momentum = 0.9;
  return plan;
}

Options with(const std::string& name, const OptionValue& value) {
  Options options;
  options.set(name, value);
  return options;
}

OptionValue word(const char* text) { return std::string(text); }

RunSetup training_setup(const std::string& policy, const Options& given,
                        std::shared_ptr<const TrainingPlan> plan) {
  RunSetup setup;
  setup.policy = find_policy(policy);
  setup.options = resolve(*setup.policy, given);
  setup.topology = Topology(2, 2, servers_needed(*setup.policy, setup.options));
  setup.base.assign(4, 200us);
  setup.stragglers = {{Lognormal{0.3}}};
  setup.entries = 650;  // 64 features and a bias for each of ten classes
  setup.steps_per_worker = 40;
  setup.training = std::move(plan);
  return setup;
}

const LearningPoint& first(const RunRecord& record) {
  CHECK(record.failure == "");
  REQUIRE(record.learning.has_value());
  return record.learning->curve.front();
}

const LearningPoint& last(const RunRecord& record) {
  CHECK(record.failure == "");
  REQUIRE(record.learning.has_value());
  return record.learning->curve.back();
}

Score union_score(const RunSetup& setup, std::uint64_t steps) {
  const auto workers = setup.topology.workers();
  const auto& plan = *setup.training;
  const TrainingTask task(plan.training, *plan.dataset, workers, setup.seed);
  TrainerThreads<float> threads(task, 1);
  const auto model = test::union_sgd<float>(task, workers, steps);
  return Evaluator<float>(task, plan.measure.samples, threads).score(model);
}

}  // namespace cohort
