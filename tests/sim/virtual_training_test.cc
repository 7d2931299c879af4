// Whole runs with training in virtual time: what each policy's averages must amount to, and what a
// run reports.
#include "sim/virtual_training.h"

#include <doctest/doctest.h>

#include <cmath>

#include "policies/errors.h"
#include "tests/sim/training_runs.h"
#include "tests/training/union_sgd.h"
#include "training/quadratic.h"

namespace cohort {
namespace {

using test::largest_difference;
using test::union_sgd;

constexpr std::uint64_t kSteps = 100;

TrainingSpec softmax(double learning_rate = 0.2, double momentum = 0) {
  return {.model = SoftmaxOptions{}, .sgd = {.learning_rate = learning_rate, .momentum = momentum}};
}

Choice all_reduce_of(const std::string& what) { return {"all-reduce", {{"what", what}}}; }

template <typename T>
double against_union(const TrainingSpec& training, const Trained& run) {
  const TrainingTask task(training, *small_set(), 4, 1);
  REQUIRE(largest_difference(run.model, test::initial_model<T>(task)) > 0.05);
  return largest_difference(run.model, union_sgd<T>(task, 4, kSteps));
}

TEST_CASE("virtual training: all-reduce of softmax regression is SGD on the union of the batches") {
  const auto run = trained_in_double(training_scenario(2, 2, {"all-reduce"}, softmax(), kSteps));
  CHECK(against_union<double>(softmax(), run) < 1e-10);
}

TEST_CASE("virtual training: so it is for an MLP in single precision") {
  const TrainingSpec training{.model = MlpOptions{{64}}, .sgd = {.learning_rate = 0.2}};
  const auto run = trained(training_scenario(2, 2, {"all-reduce"}, training, kSteps));
  CHECK(against_union<float>(training, run) < 1e-4);
}

TEST_CASE("virtual training: averaging gradients is averaging models, from equal starts") {
  const auto models = trained_in_double(training_scenario(2, 2, {"all-reduce"}, softmax(), kSteps));
  const auto gradients =
      trained_in_double(training_scenario(2, 2, all_reduce_of("gradients"), softmax(), kSteps));
  CHECK(largest_difference(models.model, gradients.model) < 1e-10);
}

TEST_CASE("virtual training: with momentum too, whether velocities are averaged or not") {
  const auto training = softmax(0.05, 0.9);
  const auto models = trained_in_double(training_scenario(2, 2, {"all-reduce"}, training, kSteps));
  const auto gradients =
      trained_in_double(training_scenario(2, 2, all_reduce_of("gradients"), training, kSteps));
  const auto velocities = trained_in_double(
      training_scenario(2, 2, {"all-reduce", {{"average_momentum", true}}}, training, kSteps));
  CHECK(largest_difference(models.model, gradients.model) < 1e-10);
  CHECK(largest_difference(models.model, velocities.model) < 1e-10);
}

TEST_CASE("virtual training: averaged velocities change what a policy of groups learns") {
  const auto training = softmax(0.05, 0.9);
  const auto own = trained_in_double(training_scenario(2, 2, {"static"}, training, kSteps));
  const auto averaged = trained_in_double(
      training_scenario(2, 2, {"static", {{"average_momentum", true}}}, training, kSteps));
  CHECK(largest_difference(own.model, averaged.model) > 1e-6);
}

TEST_CASE("virtual training: averaged velocities double the payload where there is momentum") {
  const auto seconds = [](double momentum, bool average) {
    const Choice choice{"static", {{"average_momentum", average}}};
    auto scenario = training_scenario(2, 2, choice, softmax(0.05, momentum), 5);
    if (average && momentum > 0) scenario.workload.payload /= 2;
    return simulate(scenario).elapsed_seconds;
  };
  CHECK(seconds(0.9, true) == seconds(0.9, false));
  CHECK(seconds(0, true) == seconds(0, false));
}

TEST_CASE(
    "virtual training: synchronous parameter servers do what an all-reduce of gradients does") {
  const auto training = softmax(0.05, 0.9);
  const auto gradients =
      trained_in_double(training_scenario(2, 2, all_reduce_of("gradients"), training, kSteps));
  const auto servers = trained_in_double(training_scenario(
      2, 2, {"parameter-server", {{"servers", std::int64_t{3}}}}, training, kSteps));
  CHECK(largest_difference(servers.model, gradients.model) < 1e-10);
  CHECK(servers.learning().effective_staleness == 0.0);
  CHECK(servers.learning().curve.back().consensus_distance == 0);
}

TEST_CASE("virtual training: every policy in every form improves the loss") {
  for (const auto& choice : all_choices()) {
    const auto scenario = training_scenario(2, 4, choice, softmax(0.1, 0.5), 60);
    CAPTURE(scenario.label);
    const auto run = trained(scenario);
    CHECK(run.final_loss() < 0.6 * run.learning().curve.front().mean.loss);
    CHECK(*run.learning().curve.back().mean.accuracy > 0.6);
  }
}

void check_same(const Learning& a, const Learning& b) {
  CHECK(a.effective_staleness == b.effective_staleness);
  CHECK(a.samples_per_worker == b.samples_per_worker);
  REQUIRE(a.curve.size() == b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) {
    CHECK(a.curve[i].seconds == b.curve[i].seconds);
    CHECK(a.curve[i].samples == b.curve[i].samples);
    CHECK(a.curve[i].mean == b.curve[i].mean);
    CHECK(a.curve[i].worst == b.curve[i].worst);
    CHECK(a.curve[i].replica == b.curve[i].replica);
    CHECK(a.curve[i].consensus_distance == b.curve[i].consensus_distance);
  }
}

TEST_CASE("virtual training: one, two and three threads give the same bytes") {
  for (const auto& choice : all_choices()) {
    auto scenario = training_scenario(2, 3, choice, {.model = MlpOptions{{8}}}, 12);
    scenario.cluster.coordination_latency = 1ms;
    scenario.cluster.coordination_hosted = true;
    train(scenario, {.model = MlpOptions{{8}}, .sgd = {.momentum = 0.5}}, {.replicas = true});
    CAPTURE(scenario.label);
    const auto one = trained(scenario, {.threads = 1});
    for (const unsigned threads : {2U, 3U}) {
      const auto several = trained(scenario, {.threads = threads});
      CHECK(one.model == several.model);
      check_same(one.learning(), several.learning());
    }
  }
}

TEST_CASE("virtual training: workers may be lost at any time, and the others go on") {
  for (const auto& choice : all_choices()) {
    auto scenario = training_scenario(2, 3, choice, softmax(), 20);
    scenario.losses = {{.at = 333ms, .worker = WorkerId{0}}, {.at = 1001ms, .worker = WorkerId{4}}};
    CAPTURE(scenario.label);
    const auto one = trained(scenario);
    check_same(one.learning(), trained(scenario, {.threads = 2}).learning());
    CHECK(one.final_loss() < one.learning().curve.front().mean.loss);
    CHECK_FALSE(one.learning().curve.back().replica.has_value());
    CHECK(one.learning().samples_per_worker[0] < one.learning().samples_per_worker[1]);
  }
}

TEST_CASE("virtual training: a run takes the time that it takes without") {
  for (const auto& choice : all_choices()) {
    auto scenario = training_scenario(2, 3, choice, softmax(), 20);
    scenario.cluster.coordination_latency = 3ms;
    scenario.cluster.coordination_hosted = true;
    CAPTURE(scenario.label);
    const auto with = simulate(scenario);
    scenario.training = nullptr;
    const auto without = simulate(scenario);
    CHECK(with.elapsed_seconds == without.elapsed_seconds);
    CHECK(with.worker_steps == without.worker_steps);
    CHECK(with.compute_fraction == without.compute_fraction);
    CHECK(with.wait_fraction == without.wait_fraction);
    CHECK(with.synchronisations == without.synchronisations);
    CHECK_FALSE(without.learning.has_value());
  }
}

TEST_CASE("virtual training: the loss that SGD settles at on the quadratic is the closed form's") {
  const QuadraticOptions quadratic{.noise_variance = 4};
  auto scenario =
      training_scenario(2, 2, {"all-reduce"},
                        {.model = quadratic, .batch = 2, .sgd = {.learning_rate = 0.2}}, 20'000);
  train(scenario, scenario.training->training, {.every = std::uint64_t{40}});
  const auto run = trained_in_double(scenario);
  double sum = 0;
  std::uint64_t points = 0;
  for (const auto& point : run.learning().curve)
    if (point.samples > 8'000) {
      sum += point.mean.loss;
      ++points;
    }
  const double expected = stationary_loss(quadratic, 0.2, 0, 4.0 / 2 / 4);
  CHECK(sum / static_cast<double>(points) == doctest::Approx(expected).epsilon(0.03));
}

TEST_CASE("virtual training: the run ends at the first point at or below the stop rule's loss") {
  auto scenario = training_scenario(2, 2, {"smart"}, softmax(0.1), 500);
  const auto free = trained(scenario);
  scenario.stop.loss = 1.0;
  const auto stopped = trained(scenario);
  const auto& curve = stopped.learning().curve;
  CHECK(stopped.row.worker_steps < free.row.worker_steps);
  CHECK(curve.back().mean.loss <= 1.0);
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) CHECK(curve[i].mean.loss > 1.0);
  CHECK(curve.back().seconds == stopped.row.elapsed_seconds);
}

TEST_CASE("virtual training: a loss that is not finite ends the run with worker and step") {
  auto scenario = training_scenario(2, 2, {"static"}, {}, 100);
  train(scenario, {.model = MlpOptions{{8}}, .sgd = {.learning_rate = 1e9}},
        {.every = std::uint64_t{1'000'000}});
  std::string one, two;
  try {
    (void)simulate(scenario, {.threads = 1});
  } catch (const InputError& error) {
    one = error.what();
  }
  try {
    (void)simulate(scenario, {.threads = 2});
  } catch (const InputError& error) {
    two = error.what();
  }
  CHECK(one.starts_with("/workload/training: training diverged: the loss of worker "));
  CHECK(one.find(", step ") != std::string::npos);
  CHECK(one == two);
}

TEST_CASE("virtual training: a mean model that diverged names the last worker and step too") {
  auto scenario = training_scenario(1, 1, {"static"}, {}, 3);
  train(scenario, {.model = MlpOptions{{8}}, .sgd = {.learning_rate = 1e30}},
        {.every = std::uint64_t{1}});
  CHECK_THROWS_WITH_AS((void)simulate(scenario),
                       doctest::Contains("of worker 0, step 0, the loss of the mean model is"),
                       InputError);
}

TEST_CASE("virtual training: replicas too large for the machine are refused before they are made") {
  const std::uint32_t widest = 65536;
  const auto scenario = training_scenario(
      2, 4, {"smart"}, {.model = MlpOptions{{widest, widest, widest, widest}}}, 10);
  CHECK_THROWS_WITH_AS((void)simulate(scenario), doctest::Contains("GB of memory"), InputError);
}

TEST_CASE("virtual training: without a spacing the curve has fifty points between start and end") {
  const auto steps = trained(training_scenario(2, 2, {"all-reduce"}, softmax(), 100));
  CHECK(steps.learning().curve.size() == 51);
  CHECK(steps.learning().curve.front().samples == 0);
  auto scenario = training_scenario(2, 2, {"all-reduce"}, softmax(), 1);
  scenario.stop = {.seconds = 10s};
  const auto timed = trained(scenario);
  REQUIRE(timed.learning().curve.size() == 51);
  CHECK(timed.learning().curve[1].seconds == 0.2);
  CHECK(timed.learning().curve.back().seconds == 10);
}

TEST_CASE("virtual training: points lie where they are asked for") {
  auto scenario = training_scenario(1, 2, {"ad-psgd"}, softmax(), 30);
  train(scenario, softmax(), {.every = std::uint64_t{7}});
  const auto steps = trained(scenario);
  CHECK(steps.learning().curve.size() == 60 / 7 + 2);
  train(scenario, softmax(), {.every = Time(500ms)});
  const auto timed = trained(scenario);
  for (std::size_t i = 0; i + 1 < timed.learning().curve.size(); ++i)
    CHECK(timed.learning().curve[i].seconds == doctest::Approx(0.5 * static_cast<double>(i)));
}

TEST_CASE(
    "virtual training: the last point has all replicas, the others where they are asked for") {
  auto scenario = training_scenario(2, 2, {"d-psgd"}, softmax(), 30);
  const auto usual = trained(scenario);
  CHECK_FALSE(usual.learning().curve.front().worst.has_value());
  const auto& last = usual.learning().curve.back();
  REQUIRE(last.worst.has_value());
  REQUIRE(last.replica.has_value());
  CHECK(last.worst->loss >= last.replica->loss);
  CHECK(last.consensus_distance > 0);
  train(scenario, softmax(), {.replicas = true});
  CHECK(trained(scenario).learning().curve.front().worst.has_value());
}

TEST_CASE("virtual training: samples are counted by worker") {
  auto scenario = training_scenario(1, 4, {"ad-psgd"}, softmax(), 10);
  scenario.stragglers.push_back({.model = Fixed{.workers = {2}, .factor = 3}});
  scenario.stop = {.seconds = 2s};
  const auto run = trained(scenario);
  const auto& samples = run.learning().samples_per_worker;
  REQUIRE(samples.size() == 4);
  CHECK(samples[2] < samples[0]);
  CHECK(samples[0] + samples[1] + samples[2] + samples[3] == run.learning().curve.back().samples);
}

TEST_CASE("virtual training: when everybody is lost, the curve is what was measured before") {
  auto scenario = training_scenario(1, 2, {"smart"}, softmax(), 10);
  scenario.losses = {{.at = Time{}, .worker = WorkerId{0}}, {.at = Time{}, .worker = WorkerId{1}}};
  CHECK(trained(scenario).learning().curve.size() == 1);
}

TEST_CASE("virtual training: a run whose loss is low enough from the start ends there") {
  auto scenario = training_scenario(1, 2, {"smart"}, softmax(), 10);
  scenario.stop.loss = 1e6;
  const auto run = trained(scenario);
  CHECK(run.row.worker_steps == 0);
  CHECK(run.learning().curve.size() == 1);
  CHECK_FALSE(run.learning().effective_staleness.has_value());
}

// Sees the distances that a policy is told.
struct Distances final : ActionLog {
  void record(const Event& event, const Actions&) override {
    if (event.kind == EventKind::SyncDone)
      told.emplace_back(event.squared_distances.begin(), event.squared_distances.end());
  }
  std::vector<std::vector<double>> told;
};

TEST_CASE("virtual training: a policy is told how far each member was from the mean") {
  auto scenario = training_scenario(1, 3, {"all-reduce"}, softmax(), 1);
  Distances seen;
  (void)trained(scenario, {.log = &seen, .double_precision = true});
  REQUIRE(seen.told.size() == 1);
  REQUIRE(seen.told[0].size() == 3);
  ByHand hand(scenario);
  const auto x = hand.initial();
  std::vector<ByHand::Numbers> models;
  for (std::uint32_t w = 0; w < 3; ++w) models.push_back(ByHand::minus(x, hand.step(x, w, 0)));
  for (std::uint32_t w = 0; w < 3; ++w) {
    double expected = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double mean = (models[0][i] + models[1][i] + models[2][i]) / 3;
      expected += (models[w][i] - mean) * (models[w][i] - mean);
    }
    CHECK(seen.told[0][w] == doctest::Approx(expected).epsilon(1e-9));
  }
}

}  // namespace
}  // namespace cohort
