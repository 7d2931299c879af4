#include "tests/runtime/nccl/training_check.h"

#include <chrono>
#include <cmath>

#include "policies/registry.h"
#include "tests/runtime/nccl/device_comparison.h"
#include "tests/runtime/nccl/process_job.h"
#include "tests/training/union_sgd.h"
#include "training/evaluation.h"
#include "training/synthetic.h"

namespace cohort {
namespace {

constexpr std::uint64_t kSteps = 20;
constexpr double kLargestOfLoss = 1e-4;
constexpr double kLargestOfGradient = 1e-5;
constexpr double kLargestAfterSteps = 1e-4;
constexpr std::size_t kNumbersOfPlan = 3;

// On images of the size of Fashion-MNIST's.
std::vector<NamedPlan> timed_plans() {
  const auto images = std::make_shared<const Dataset>(
      make_synthetic({.side = 28, .training_samples = 4096, .test_samples = 256}));
  TrainingPlan plan{.training = {}, .dataset = images, .measure = {}};
  std::vector<NamedPlan> plans{{"mlp 784-256-10, batch 32", plan}};
  plan.training.model = CnnOptions{};
  plans.push_back({"cnn of 8 and 16 channels on 28 x 28, batch 32", plan});
  return plans;
}

RunSetup setup_of(std::uint32_t ranks) {
  const auto plan = small_plans()[2].plan;  // the MLP
  RunSetup setup;
  setup.policy = find_policy("all-reduce");
  setup.options = resolve(*setup.policy, {});
  setup.topology = Topology(1, ranks);
  setup.base.assign(ranks, std::chrono::microseconds(1));
  setup.entries = parameters_of(plan);
  setup.steps_per_worker = kSteps;
  setup.training = std::make_shared<TrainingPlan>(plan);
  return setup;
}

// Of the model that one process trains on the batches of all ranks.
double loss_of_one_process(const RunSetup& setup) {
  const auto& plan = *setup.training;
  const auto workers = setup.topology.workers();
  const TrainingTask task(plan.training, *plan.dataset, workers, setup.seed);
  TrainerThreads<float> threads(task, 1);
  const auto model = test::union_sgd<float>(task, workers, kSteps);
  return Evaluator<float>(task, plan.measure.samples, threads).score(model).loss;
}

}  // namespace

std::vector<double> check_models(Backend& backend) {
  std::vector<double> numbers;
  for (const auto& [name, plan] : small_plans()) {
    const auto found = compare_with_host(plan, backend, kSteps);
    numbers.insert(numbers.end(), {found.loss, found.gradient, found.parameters});
  }
  for (const auto& [name, plan] : timed_plans()) numbers.push_back(steps_a_second(plan, backend));
  return numbers;
}

std::size_t model_numbers() { return kNumbersOfPlan * small_plans().size() + timed_plans().size(); }

void print_model_rows(const std::vector<double>& numbers, CheckTable& table) {
  auto number = numbers.begin();
  for (const auto& [name, plan] : small_plans()) {
    const double loss = *number++;
    const double gradient = *number++;
    const double parameters = *number++;
    table.row(fmt::format("{}: loss, gradient, parameters after {} steps against the host's", name,
                          kSteps),
              fmt::format("{:.1e}, {:.1e}, {:.1e}", loss, gradient, parameters),
              fmt::format("{:.0e}, {:.0e}, {:.0e}", kLargestOfLoss, kLargestOfGradient,
                          kLargestAfterSteps),
              loss <= kLargestOfLoss && gradient <= kLargestOfGradient &&
                  parameters <= kLargestAfterSteps);
  }
  for (const auto& [name, plan] : timed_plans()) {
    const double rate = *number++;
    table.row(name + ", one rank", fmt::format("{:.0f} steps/s", rate), "any", rate > 0);
  }
}

bool check_training_job(const Job& job, CheckTable& table) {
  const auto setup = setup_of(job.ranks);
  const auto outcome = run_job(job, setup);
  const auto& record = outcome.records.front();
  if (!outcome.complaints.empty() || !record.learning) {
    fmt::print(stderr, "{}{}\n", outcome.complaints, record.failure);
    return false;
  }
  const double loss = record.learning->curve.back().mean.loss;
  const double expected = loss_of_one_process(setup);
  table.row(fmt::format("mlp by all-reduce: loss after {} steps against one process's", kSteps),
            fmt::format("{:.6f} and {:.6f}", loss, expected),
            fmt::format("within {:.0e}", kLargestOfLoss),
            std::abs(loss - expected) <= kLargestOfLoss * expected);
  return true;
}

}  // namespace cohort
