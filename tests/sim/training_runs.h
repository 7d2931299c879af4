// Runs with training for tests: small tasks, every policy in all its forms, and a worker's
// gradients to follow a run by hand.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/runs.h"
#include "training/synthetic.h"
#include "training/worker_training.h"

namespace cohort {

[[nodiscard]] inline std::shared_ptr<const Dataset> small_set() {
  static const auto set = std::make_shared<const Dataset>(
      make_synthetic({.training_samples = 1024, .test_samples = 256}));
  return set;
}

inline void train(Scenario& scenario, TrainingSpec training, MeasureSpec measure = {}) {
  scenario.training = std::make_shared<const TrainingPlan>(
      TrainingPlan{.training = std::move(training), .dataset = small_set(), .measure = measure});
}

// As scenario_of(), with 2 % jitter and so many steps each.
[[nodiscard]] inline Scenario training_scenario(std::uint32_t nodes, std::uint32_t gpus,
                                                const Choice& choice, TrainingSpec training,
                                                std::uint64_t steps) {
  Scenario scenario = scenario_of(nodes, gpus, choice);
  scenario.stragglers = {{.model = Lognormal{.sigma = 0.02}}};
  scenario.stop.steps_per_worker = steps;
  train(scenario, std::move(training));
  return scenario;
}

struct Trained {
  ResultRow row;
  std::vector<double> model;
  [[nodiscard]] const Learning& learning() const { return *row.learning; }
  [[nodiscard]] double final_loss() const { return learning().curve.back().mean.loss; }
};

[[nodiscard]] inline Trained trained(const Scenario& scenario, SimulateOptions options = {}) {
  Trained result;
  options.model = &result.model;
  result.row = simulate(scenario, options);
  REQUIRE(result.row.learning.has_value());
  return result;
}

[[nodiscard]] inline Trained trained_in_double(const Scenario& scenario) {
  return trained(scenario, {.double_precision = true});
}

// Each policy, in every form that changes what is averaged when.
[[nodiscard]] inline std::vector<Choice> averaging_choices() {
  const OptionValue background = std::string("background");
  return {{"all-reduce"},
          {"all-reduce", {{"timing", background}}},
          {"d-psgd"},
          {"d-psgd", {{"graph", std::string("complete")}}},
          {"ad-psgd"},
          {"ad-psgd", {{"active", background}}},
          {"ad-psgd", {{"passive", std::string("blocks")}}},
          {"ad-psgd", {{"exclusive_all", true}}},
          {"ad-psgd", {{"exclusive_all", true}, {"active", background}}},
          {"static"},
          {"static", {{"timing", background}}},
          {"random"},
          {"random", {{"timing", background}}},
          {"smart"},
          {"smart", {{"timing", background}}},
          {"smart", {{"inter_intra", false}}}};
}

[[nodiscard]] inline bool in_background(const Choice& choice) {
  return std::ranges::any_of(choice.options, [](const auto& option) {
    return option.second == OptionValue(std::string("background"));
  });
}

[[nodiscard]] inline std::vector<Choice> all_choices() {
  auto choices = averaging_choices();
  const OptionValue last = std::string("average_then_update");
  for (const auto* kind : {"all-reduce", "ad-psgd", "static", "smart"})
    choices.push_back({kind, {{"order", last}}});
  choices.push_back({"smart", {{"order", last}, {"timing", std::string("background")}}});
  choices.push_back({"all-reduce", {{"what", std::string("gradients")}}});
  choices.push_back({"all-reduce", {{"overlap", true}}});
  choices.push_back({"static", {{"average_momentum", true}}});
  choices.push_back({"parameter-server"});
  choices.push_back({"parameter-server", {{"servers", std::int64_t{2}}, {"overlap", true}}});
  choices.push_back({"parameter-server", {{"update_time", OptionValue(Time(2ms))}}});
  choices.push_back({"parameter-server", {{"mode", std::string("async")}}});
  choices.push_back({"parameter-server",
                     {{"mode", std::string("async")}, {"update_time", OptionValue(Time(2ms))}}});
  return choices;
}

// A worker's gradients in double precision.
class ByHand {
 public:
  using Numbers = std::vector<double>;

  explicit ByHand(const Scenario& scenario)
      : task_(scenario.training->training, *scenario.training->dataset, workers(scenario),
              scenario.seed),
        trainer_(task_) {}

  [[nodiscard]] Numbers initial() const {
    Numbers x(trainer_.parameters());
    trainer_.initialise(x);
    return x;
  }
  // Rate times the gradient of that worker and step at x: what plain SGD takes off.
  [[nodiscard]] Numbers step(const Numbers& x, std::uint32_t worker, std::uint64_t step) {
    Numbers gradient(x.size());
    (void)trainer_.gradient(x, WorkerId{worker}, step, samples(worker, step), gradient);
    for (auto& number : gradient) number *= task_.spec().sgd.learning_rate;
    return gradient;
  }

  // a + factor * b.
  [[nodiscard]] static Numbers plus(Numbers a, const Numbers& b, double factor = 1) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
    return a;
  }
  [[nodiscard]] static Numbers minus(Numbers a, const Numbers& b) {
    return plus(std::move(a), b, -1);
  }
  [[nodiscard]] static Numbers mean(const Numbers& a, const Numbers& b) {
    auto sum = plus(a, b);
    for (auto& number : sum) number /= 2;
    return sum;
  }

 private:
  static std::uint32_t workers(const Scenario& scenario) {
    return static_cast<std::uint32_t>(scenario.cluster.compute_factor.size());
  }
  std::span<const std::uint32_t> samples(std::uint32_t worker, std::uint64_t step) {
    if (!task_.shards()) return {};
    order_.emplace(*task_.shards(), WorkerId{worker});
    return order_->batch(step);
  }

  TrainingTask task_;
  Trainer<double> trainer_;
  std::optional<DataOrder> order_;
};

}  // namespace cohort
