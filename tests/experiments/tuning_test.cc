// Learning rates found by successive halving: the same for every seed, thread and process.
#include "experiments/tuning.h"

#include <doctest/doctest.h>

#include <thread>

#include "experiments/read_cell.h"
#include "policies/errors.h"
#include "tests/experiments/base_spec.h"

namespace cohort {
namespace {

using testing::cell_of;
using testing::training_spec;

Json tuned_spec(const char* candidates) {
  auto document = training_spec();
  document["measure"] = Json::parse(R"({"target_loss": 1.5, "tune": {"budget": 160}})");
  document["measure"]["tune"]["learning_rate"] = Json::parse(candidates);
  return document;
}

RowScenario tuned(const Cell& cell, std::uint32_t policy = 0) {
  Tunings tunings;
  return tunings.scenario(cell, 0, policy, 1, {});
}

TEST_CASE("tuning: without candidates a row has the rates of the spec") {
  const auto row = tuned(cell_of(training_spec()));
  CHECK(row.tuning == nullptr);
  CHECK(row.scenario.training->training.sgd.learning_rate == 0.05);
}

TEST_CASE("tuning: all run for a quarter of the budget, half of them for a half, and so on") {
  const auto row = tuned(cell_of(tuned_spec("[0.001, 0.01, 0.1, 0.2, 0.3]")));
  std::map<std::uint64_t, int> runs;
  for (const auto& candidate : row.tuning->candidates) ++runs[candidate.worker_steps];
  CHECK(runs == std::map<std::uint64_t, int>{{40, 2}, {80, 1}, {160, 2}});
}

TEST_CASE("tuning: the search ends when one candidate is left") {
  const auto row = tuned(cell_of(tuned_spec("[0.001, 0.1]")));
  CHECK(row.tuning->candidates[0].worker_steps == 40);
  CHECK(row.tuning->candidates[1].worker_steps == 40);
}

TEST_CASE("tuning: the row trains with the best candidate") {
  const auto row = tuned(cell_of(tuned_spec("[0.0001, 0.1]")));
  REQUIRE(row.tuning->best == 1U);
  CHECK(row.scenario.training->training.sgd.learning_rate == 0.1);
  CHECK(*row.tuning->candidates[1].loss < *row.tuning->candidates[0].loss);
}

TEST_CASE("tuning: a candidate that diverges is the worst") {
  const auto row = tuned(cell_of(tuned_spec("[1e5, 0.0001, 1e6]")));
  REQUIRE(row.tuning->best == 1U);
}

TEST_CASE("tuning: when all candidates diverge the row says so") {
  auto document = tuned_spec("[1e6, 9e5]");
  document["workload"]["training"]["model"] = {{"kind", "quadratic"}};
  document["workload"]["training"].erase("data");
  const auto row = tuned(cell_of(document));
  CHECK_FALSE(row.tuning->best.has_value());
  const auto finished = run_row(row, nullptr);
  CHECK(finished.failed);
  const auto json = OrderedJson::parse(finished.text);
  CHECK(json["error"].get<std::string>().find("none of the 2 candidates") != std::string::npos);
  CHECK(json["tuning"].size() == 2);
  CHECK(json["final_loss"].is_null());
}

TEST_CASE("tuning: runs are on a seed of their own and of the length of their rung") {
  const auto cell = cell_of(tuned_spec("[0.1, 0.2]"));
  const auto scenario = tuning_scenario(cell, cell.policies[1], {0.2, 0.5}, 80);
  CHECK(scenario.seed == kTuningSeed);
  CHECK(scenario.stop.total_steps == 80U);
  CHECK_FALSE(scenario.stop.steps_per_worker.has_value());
  CHECK(scenario.training->training.sgd.learning_rate == 0.2);
  CHECK(scenario.training->training.sgd.momentum == 0.5);
}

TEST_CASE("tuning: runs look at the loss of the mean model alone") {
  const auto cell = cell_of(tuned_spec("[0.1, 0.2]"));
  const auto row = simulate(tuning_scenario(cell, cell.policies[1], {0.2, 0.5}, 80));
  const auto& last = row.learning->curve.back();
  CHECK(last.mean.loss > 0);
  CHECK_FALSE(last.mean.accuracy.has_value());
  CHECK_FALSE(last.worst.has_value());
}

TEST_CASE("tuning: threads that share a search find what one alone finds") {
  const auto cell = cell_of(tuned_spec("[0.01, 0.03, 0.1, 0.3]"));
  const auto alone = tuned(cell, 1);
  Tunings tunings;
  std::vector<RowScenario> rows(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < rows.size(); ++i)
    threads.emplace_back([&, i] { rows[i] = tunings.scenario(cell, 0, 1, i, {}); });
  for (auto& thread : threads) thread.join();
  for (const auto& row : rows) {
    CHECK(row.tuning == rows[0].tuning);
    CHECK(row.tuning->best == alone.tuning->best);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(row.tuning->candidates[i].loss == alone.tuning->candidates[i].loss);
  }
}

TEST_CASE("tuning: a stop is obeyed") {
  const std::atomic<bool> stop = true;
  Tunings tunings;
  CHECK_THROWS_AS(
      (void)tunings.scenario(cell_of(tuned_spec("[0.1, 0.2]")), 0, 0, 1, {.stop = &stop}),
      Interrupted);
}

}  // namespace
}  // namespace cohort
