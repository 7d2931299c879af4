#include "traces/recording.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "policies/errors.h"
#include "tests/skip.h"
#include "tests/traces/files.h"
#include "traces/stragglers.h"
#include "traces/trace_fit.h"
#include "traces/units.h"

namespace cohort {
namespace {

Recording recording_in(std::string_view text) {
  const test::WrittenFile file(text);
  return read_recording(file.path());
}

TEST_CASE(
    "recording: steps with gaps are renumbered, replicas and stages become workers, and it says "
    "so") {
  const Recording recording = read_recording(test::sample("slow_stage_3dp_x_2pp.csv"));
  CHECK(recording.trace.workers() == 6);
  CHECK(recording.trace.steps() == 4);
  CHECK(recording.stages == 2);
  CHECK(test::mentions(recording.notes, "4 numbers from 10 to 20 with gaps"));
  CHECK(test::mentions(recording.notes, "worker = dp_rank * 2 + pp_rank"));
  CHECK(seconds(recording.trace.at(1, 0)) > 1.4 * seconds(recording.trace.at(0, 0)));
}

TEST_CASE("recording: a slow pipeline stage is told from a slow worker") {
  const Recording recording = read_recording(test::sample("slow_stage_3dp_x_2pp.csv"));
  const auto workers = summarise(recording.trace);
  CHECK(slow_stages(workers, 2) == std::vector<std::uint32_t>{1});
  auto one_slow = workers;
  one_slow[3].ratio = 1;
  CHECK(slow_stages(one_slow, 2).empty());
  CHECK(slow_stages(workers, 1).empty());
}

TEST_CASE("recording: the form of a compute trace may have gaps in its numbers") {
  const Recording recording =
      recording_in("worker,step,seconds\n3,7,0.1\n3,9,0.2\n5,7,0.3\n5,9,0.4\n");
  CHECK(recording.trace.workers() == 2);
  CHECK(recording.trace.at(1, 1) == Time{400'000'000});
  CHECK(test::mentions(recording.notes, "workers: 2 numbers from 3 to 5"));
  CHECK(recording_in("worker,step,seconds\n0,0,1\n").notes.empty());
}

TEST_CASE("recording: a worker without a step of the others is refused with the line") {
  const test::WrittenFile file("step,dp_rank,pp_rank,compute_s\n5,0,0,1\n5,1,0,1\n9,0,0,1\n");
  CHECK_THROWS_WITH_AS((void)read_recording(file.path()),
                       doctest::Contains(":3: worker 1 ends with step 0"), InputError);
}

TEST_CASE("recording: a header of neither form is refused") {
  CHECK_THROWS_AS((void)recording_in("step,dp_rank,compute_s\n1,0,1\n"), InputError);
  CHECK_THROWS_AS((void)recording_in("a,b,c\n1,0,1\n"), InputError);
}

TEST_CASE("cases: the recorded straggler study has 32 steps of 8 workers and a slow last stage") {
  const auto file = test::cases() / "stragglers/last_stage_slow_2dp_x_4pp.csv";
  if (!std::filesystem::exists(file)) return skip("the shared cases are not at hand");
  const Recording recording = read_recording(file);
  CHECK(recording.trace.steps() == 32);
  CHECK(recording.trace.workers() == 8);
  CHECK(recording.stages == 4);
  CHECK(test::mentions(recording.notes, "with gaps"));
  const auto workers = summarise(recording.trace);
  CHECK(std::abs(workers[3].ratio - 1.62) < 0.005);
  CHECK(std::abs(workers[7].ratio - 1.63) < 0.005);
  for (const WorkerSummary& worker : workers) {
    CHECK(worker.spread > 0.0155);
    CHECK(worker.spread < 0.0265);
  }
  CHECK(slow_stages(workers, recording.stages) == std::vector<std::uint32_t>{3});
}

TEST_CASE("cases: the project's own numbers of the straggler study are those of the recording") {
  const auto file = test::cases() / "stragglers/last_stage_slow_2dp_x_4pp.csv";
  if (!std::filesystem::exists(file)) return skip("the shared cases are not at hand");
  const auto own =
      std::filesystem::path(COHORT_SOURCE_ROOT) / "experiments/data/pipeline_stragglers.csv";
  const test::WrittenFile imported(to_csv(read_recording(file).trace));
  std::ifstream left(imported.path());
  std::ifstream right(own);
  const std::string expected{std::istreambuf_iterator<char>(left), {}};
  const std::string found{std::istreambuf_iterator<char>(right), {}};
  CHECK(found == expected);
}

ComputeTrace drawn(std::vector<StragglerSpec> models, std::uint64_t steps) {
  const Topology cluster(2, 4);
  StepTimes times(std::vector<Time>(8, Time{100'000'000}), std::move(models), cluster, 11);
  std::vector<Time> table;
  for (std::uint32_t w = 0; w < 8; ++w) {
    for (std::uint64_t step = 0; step < steps; ++step) table.push_back(times(WorkerId{w}, step));
  }
  return {8, steps, std::move(table)};
}

TEST_CASE("trace fit: finds the models that drew a trace again") {
  const TraceFit fit =
      fit_trace(drawn({{Fixed{{2, 5}, 2}}, {Bernoulli{0.05, 4}}, {Lognormal{0.05}}}, 2000));
  REQUIRE(fit.bernoulli);
  CHECK(std::abs(fit.bernoulli->probability - 0.05) <
        0.008);  // four standard errors of 16,000 steps
  CHECK(std::abs(fit.bernoulli->factor - 4) < 0.05);
  REQUIRE(fit.jitter);
  CHECK(std::abs(fit.jitter->sigma - 0.05) < 0.002);
  REQUIRE(fit.fixed.size() == 1);
  CHECK(fit.fixed[0].workers == std::vector<std::uint32_t>{2, 5});
  CHECK(std::abs(fit.fixed[0].factor - 2) < 0.02);
  CHECK(std::abs(seconds(fit.compute) - 0.1) < 0.0005);
  CHECK_FALSE(fit.burst);
}

TEST_CASE("trace fit: slow steps that follow each other are a burst") {
  const TraceFit fit = fit_trace(drawn({{Burst{0.02, 0.2, 3}}}, 4000));
  REQUIRE(fit.burst);
  CHECK_FALSE(fit.bernoulli);
  CHECK(std::abs(fit.burst->enter - 0.02) < 0.004);
  CHECK(std::abs(fit.burst->leave - 0.2) < 0.04);
  CHECK(std::abs(fit.burst->factor - 3) < 0.01);
}

TEST_CASE("trace fit: what a short trace cannot show is not reported, and it says why") {
  const TraceFit fit = fit_trace(drawn({{Lognormal{0.02}}}, 4));
  CHECK_FALSE(fit.bernoulli);
  CHECK_FALSE(fit.jitter);
  CHECK(test::mentions(fit.notes, "too few"));
  const TraceFit calm = fit_trace(drawn({{Lognormal{0.02}}}, 100));
  CHECK_FALSE(calm.bernoulli);
  CHECK(test::mentions(calm.notes, "0 of 800 steps"));
}

}  // namespace
}  // namespace cohort
