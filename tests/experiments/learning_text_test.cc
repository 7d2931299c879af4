// The columns that training adds to a result row, and how JSON and CSV hold them.
#include "experiments/learning_text.h"

#include <doctest/doctest.h>

#include "experiments/tuning.h"

namespace cohort {
namespace {

LearningPoint point(double seconds, std::uint64_t samples, double loss) {
  return {.seconds = seconds,
          .samples = samples,
          .mean = {.loss = loss, .accuracy = 1 - loss / 4},
          .worst = std::nullopt,
          .replica = std::nullopt,
          .consensus_distance = seconds / 10};
}

ResultRow trained_row() {
  Learning learning;
  learning.learning_rate = 0.1;
  learning.momentum = 0.9;
  learning.curve = {point(0, 0, 2), point(10, 100, 1), point(20, 200, 0.5)};
  learning.curve.back().worst = {.loss = 0.75, .accuracy = 0.5};
  learning.curve.back().replica = {.loss = 0.625, .accuracy = 0.625};
  learning.samples_per_worker = {120, 80};
  learning.effective_staleness = 1.5;
  ResultRow row;
  row.learning = learning;
  return row;
}

TEST_CASE("learning: a row has what the last point shows, and the use of samples") {
  const auto row = row_json(trained_row());
  CHECK(row["learning_rate"] == 0.1);
  CHECK(row["momentum"] == 0.9);
  CHECK(row["final_loss"] == 0.5);
  CHECK(row["final_accuracy"] == 0.875);
  CHECK(row["worst_loss"] == 0.75);
  CHECK(row["worst_accuracy"] == 0.5);
  CHECK(row["replica_loss"] == 0.625);
  CHECK(row["replica_accuracy"] == 0.625);
  CHECK(row["consensus_distance"] == 2);
  CHECK(row["effective_staleness"] == 1.5);
  CHECK(row["samples"] == 200);
  CHECK(row["slowest_worker_samples"] == 80);
  CHECK(row["samples_per_worker"] == OrderedJson::parse("[120, 80]"));
}

TEST_CASE("learning: the target is reached between two points, or null") {
  const auto reached = row_json(trained_row(), {.target_loss = 0.75});
  CHECK(reached["time_to_loss_seconds"] == 15);
  CHECK(reached["samples_to_loss"] == 150);
  CHECK(row_json(trained_row(), {.target_loss = 0.25})["time_to_loss_seconds"].is_null());
  CHECK(row_json(trained_row())["samples_to_loss"].is_null());
}

TEST_CASE("learning: the curve is lists of equal length, of what every point has") {
  auto row = trained_row();
  const auto curve = row_json(row)["curve"];
  CHECK(curve["seconds"] == OrderedJson::parse("[0.0, 10.0, 20.0]"));
  CHECK(curve["loss"] == OrderedJson::parse("[2.0, 1.0, 0.5]"));
  CHECK(curve["accuracy"].size() == 3);
  CHECK_FALSE(curve.contains("worst_loss"));
  for (auto& point : row.learning->curve) point.worst = point.replica = point.mean;
  CHECK(row_json(row)["curve"]["worst_loss"].size() == 3);
}

TEST_CASE("learning: a model without classes has no accuracy") {
  auto row = trained_row();
  for (auto& point : row.learning->curve) point.mean.accuracy.reset();
  const auto json = row_json(row);
  CHECK(json["final_accuracy"].is_null());
  CHECK_FALSE(json["curve"].contains("accuracy"));
}

TEST_CASE("learning: the error stays the last column") {
  const auto text = row_json(trained_row()).dump();
  CHECK(text.ends_with(R"("error":null})"));
  CHECK(has_learning(text));
  ResultRow untrained;
  untrained.label = "\"final_loss\":";
  CHECK_FALSE(has_learning(row_json(untrained).dump()));
}

TEST_CASE("learning: rows without training keep their columns") {
  const auto columns = csv_columns(Clock::Simulated, false);
  CHECK(columns.size() == 22);
  CHECK(std::ranges::count(columns, "final_loss") == 0);
}

TEST_CASE("learning: CSV has the columns but no lists, and the same number in every line") {
  const auto columns = csv_columns(Clock::Simulated, true);
  CHECK(std::ranges::count(columns, "final_loss") == 1);
  CHECK(std::ranges::count(columns, "curve") == 0);
  const auto commas = [](const std::string& line) { return std::ranges::count(line, ','); };
  const auto header = csv_header({"/a"}, columns);
  const std::vector<Setting> settings{{"/a", 1}};
  CHECK(commas(header) == commas(csv_line(settings, row_json(trained_row()).dump(), columns)));
  CHECK(commas(header) == commas(csv_line(settings, row_json(ResultRow{}).dump(), columns)));
}

TEST_CASE("learning: a failed row has the columns of training, all null") {
  Scenario scenario;
  scenario.policy = find_policy("smart");
  scenario.training = std::make_shared<TrainingPlan>();
  const auto row = failed_row_json(scenario, "diverged");
  CHECK(row["final_loss"].is_null());
  CHECK(row["curve"].is_null());
  CHECK(row["error"] == "diverged");
}

TEST_CASE("learning: tuning lists every candidate, diverged ones without a loss") {
  Tuning tuning;
  tuning.candidates = {{.rates = {0.1, 0}, .worker_steps = 40, .loss = 0.5, .samples = 320},
                       {.rates = {9, 0}, .worker_steps = 40, .error = "diverged"}};
  tuning.best = 0;
  const auto list = row_json(trained_row(), {.tuning = &tuning})["tuning"];
  CHECK(list[0]["learning_rate"] == 0.1);
  CHECK(list[0]["worker_steps"] == 40);
  CHECK(list[0]["loss"] == 0.5);
  CHECK(list[1]["loss"].is_null());
  CHECK(list[1]["time_to_loss_seconds"].is_null());
}

}  // namespace
}  // namespace cohort
