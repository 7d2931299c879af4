// The rules of SEMANTICS 1 and 6 about a whole run: how it ends, its throughput window, the split
// of time, skew, connectivity.
#include <doctest/doctest.h>

#include <vector>

#include "tests/sim/runs.h"

namespace cohort {
namespace {

const Phases kNobody{{{0}}};  // static groups of one: everybody on its own

// `workers` on one node that never synchronise, `steps` steps each.
Scenario alone(std::uint32_t workers, std::uint64_t steps) {
  Scenario scenario = scenario_of(1, workers, {"static", {{"phases", kNobody}}});
  scenario.stop.steps_per_worker = steps;
  return scenario;
}

TEST_CASE(
    "simulation: duration of a step is the base time of its worker times its compute factor") {
  Scenario scenario = alone(2, 10);
  scenario.cluster.compute_factor[1] = 1.5;
  CHECK(run(scenario).elapsed_seconds == doctest::Approx(1.5).epsilon(1e-12));
}

TEST_CASE("simulation: throughput leaves out the warm-up of min(10, quota/10) steps") {
  Scenario scenario = alone(2, 50);  // 5 slow steps, then 45 quick ones
  std::vector<Time> times(50, 10ms);
  std::fill_n(times.begin(), 5, 1s);
  replay(scenario, {times, times});
  const ResultRow row = run(scenario);
  CHECK(throughput(row) == doctest::Approx(2 / 0.01).epsilon(1e-12));
  CHECK(row.elapsed_seconds == doctest::Approx(5.45).epsilon(1e-12));
  CHECK(row.worker_steps == 100);
  CHECK_FALSE(row.whole_run_window);
}

TEST_CASE("simulation: warmup_steps 0 opens the throughput window at the start") {
  Scenario scenario = alone(1, 50);
  std::vector<Time> times(50, 10ms);
  std::fill_n(times.begin(), 5, 1s);
  replay(scenario, {times});
  scenario.warmup_steps = 0;
  CHECK(throughput(run(scenario)) == doctest::Approx(50 / 5.45).epsilon(1e-12));
}

TEST_CASE("simulation: the window ends when the first worker has done its quota") {
  Scenario scenario = alone(2, 20);
  replay(scenario, {std::vector<Time>(20, 100ms), std::vector<Time>(20, 300ms)});
  scenario.warmup_steps = 1;
  const ResultRow row = run(scenario);
  // t0 = 0.3 s, t1 = 2 s: worker 0 ends steps 4..20 in it, worker 1 ends steps 2..6.
  CHECK(throughput(row) == doctest::Approx((17 + 5) / 1.7).epsilon(1e-12));
  CHECK(row.elapsed_seconds == doctest::Approx(6.0).epsilon(1e-12));
}

TEST_CASE("simulation: an empty window makes the row speak of the whole run and say so") {
  Scenario scenario = alone(2, 10);
  replay(scenario, {std::vector<Time>(10, 10ms), std::vector<Time>(10, 1s)});
  scenario.warmup_steps = 5;
  const ResultRow row = run(scenario);
  CHECK(row.whole_run_window);
  CHECK(throughput(row) == doctest::Approx(20 / 10.0).epsilon(1e-12));
}

TEST_CASE(
    "simulation: total_steps is reached exactly, also when several steps end at one instant") {
  for (const char* kind :
       {"all-reduce", "static", "smart", "ad-psgd", "d-psgd", "random", "parameter-server"}) {
    CAPTURE(kind);
    Scenario scenario = scenario_of(4, 4, {kind});
    scenario.stop = {.total_steps = 101};
    CHECK(run(scenario).worker_steps == 101);
  }
}

TEST_CASE("simulation: seconds ends the run at that instant and unfinished steps do not count") {
  Scenario scenario = alone(3, 1);
  scenario.stop = {.seconds = 1050ms};
  const ResultRow row = run(scenario);
  CHECK(row.worker_steps == 30);
  CHECK(row.elapsed_seconds == doctest::Approx(1.05).epsilon(1e-12));
  CHECK(row.compute_fraction == doctest::Approx(1.0).epsilon(1e-12));
}

TEST_CASE("simulation: steps that end at the instant of seconds count") {
  Scenario scenario = alone(3, 1);
  scenario.stop = {.seconds = 1s};
  CHECK(run(scenario).worker_steps == 30);
}

TEST_CASE("simulation: the first stop rule that is reached ends the run") {
  Scenario scenario = alone(2, 10);
  scenario.stop = {.steps_per_worker = 10, .total_steps = 12, .seconds = 10s};
  CHECK(run(scenario).worker_steps == 12);
  scenario.stop = {.steps_per_worker = 10, .total_steps = 100, .seconds = 300ms};
  CHECK(run(scenario).worker_steps == 6);
  scenario.stop = {.steps_per_worker = 3, .total_steps = 100, .seconds = 10s};
  CHECK(run(scenario).worker_steps == 6);
}

TEST_CASE("simulation: simulated seconds end with the last worker") {
  Scenario scenario = alone(2, 10);
  replay(scenario, {std::vector<Time>(10, 10ms), std::vector<Time>(10, 37ms)});
  CHECK(run(scenario).elapsed_seconds == doctest::Approx(0.37).epsilon(1e-12));
}

TEST_CASE("simulation: all-reduce with one slow worker splits time into compute, wait and sync") {
  Scenario scenario = scenario_of(4, 1, {"all-reduce"});
  replay(scenario, {std::vector<Time>(50, 100ms), std::vector<Time>(50, 100ms),
                    std::vector<Time>(50, 100ms), std::vector<Time>(50, 300ms)});
  scenario.stop.steps_per_worker = 50;
  const ResultRow row = run(scenario);
  const double sync = 1.5 * 60e6 / 7e9;
  const double step = 0.3 + sync;
  CHECK(row.compute_fraction == doctest::Approx((3 * 0.1 + 0.3) / 4 / step).epsilon(1e-6));
  CHECK(row.wait_fraction == doctest::Approx(3 * 0.2 / 4 / step).epsilon(1e-6));
  CHECK(row.sync_fraction == doctest::Approx(sync / step).epsilon(1e-6));
  CHECK(row.coordinate_fraction == 0);
}

TEST_CASE("simulation: fractions sum to 1 for every policy, whatever ends the run") {
  for (const PolicyEntry& entry : all_policies()) {
    for (const StopRule& stop : {StopRule{.steps_per_worker = 60}, StopRule{.total_steps = 777},
                                 StopRule{.seconds = 4321ms}}) {
      CAPTURE(entry.name);
      Scenario scenario = scenario_of(4, 4, {entry.name});
      scenario.stragglers = {{.model = Bernoulli{.probability = 0.1, .factor = 5}},
                             {.model = Lognormal{.sigma = 0.02}}};
      scenario.cluster.coordination_latency = 1ms;
      scenario.cluster.coordination_service = 200us;
      scenario.cluster.communicator_setup = 5ms;
      scenario.stop = stop;
      CHECK(sum_of_fractions(run(scenario)) == doctest::Approx(1.0).epsilon(1e-9));
    }
  }
}

TEST_CASE("simulation: skew is the largest difference of steps done between live workers") {
  Scenario scenario = alone(2, 30);
  replay(scenario, {std::vector<Time>(30, 100ms), std::vector<Time>(30, 290ms)});
  // At 2.9 s worker 0 has done 29 steps and worker 1 has done 10; at 3 s worker 0 leaves.
  CHECK(run(scenario).max_step_skew == 19);
  CHECK(run(scenario_of(4, 4, {"all-reduce"})).max_step_skew == 0);
}

TEST_CASE(
    "simulation: a worker that a policy takes into the next synchronisation leaves after that "
    "one") {
  Scenario scenario = scenario_of(1, 4, {"all-reduce", {{"timing", std::string("background")}}});
  scenario.workload.compute = 1ms;  // shorter than an average
  scenario.stop.steps_per_worker = 20;
  CHECK(run(scenario).worker_steps == 80);
  scenario = scenario_of(4, 4, {"ad-psgd"});
  scenario.workload.compute = 5ms;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    CHECK(run(scenario, seed).worker_steps == 16 * 500);
}

TEST_CASE("simulation: groups that never join two halves are reported as disconnected") {
  Scenario scenario = scenario_of(2, 2, {"static", {{"phases", Phases{{{0, 1}, {2, 3}}}}}});
  CHECK(run(scenario).connected == std::optional(false));
  choose(scenario, {"static", {{"phases", Phases{{{0, 1}, {2, 3}}, {{0, 2}}}}}});
  CHECK(run(scenario).connected == std::optional(true));
  choose(scenario, {"static"});
  CHECK(run(scenario).connected == std::optional(true));
  scenario.stop.steps_per_worker = 20;
  CHECK_FALSE(run(scenario).connected.has_value());
}

TEST_CASE("simulation: bytes of a ring are 2(g-1)/g of the payload for each hop, by kind of hop") {
  Scenario scenario = scenario_of(4, 4, {"all-reduce"});
  scenario.stop.steps_per_worker = 3;
  const ResultRow row = run(scenario);
  CHECK(row.inter_node_bytes == doctest::Approx(3 * 4 * 1.875 * 60e6).epsilon(1e-12));
  CHECK(row.intra_node_bytes == doctest::Approx(3 * 12 * 1.875 * 60e6).epsilon(1e-12));
  CHECK(row.synchronisations == 3);
}

TEST_CASE("simulation: synchronisations of one are not counted") {
  Scenario scenario = scenario_of(1, 4, {"static", {{"phases", Phases{{{0, 1}, {2}, {3}}}}}});
  scenario.stop.steps_per_worker = 10;
  CHECK(run(scenario).synchronisations == 10);
}

TEST_CASE("simulation: the same seed gives the same row, another seed another one") {
  Scenario scenario = scenario_of(4, 4, {"smart"});
  scenario.stragglers = {{.model = Bernoulli{.probability = 0.1, .factor = 5}}};
  CHECK(run(scenario, 7).elapsed_seconds == run(scenario, 7).elapsed_seconds);
  CHECK(run(scenario, 7).elapsed_seconds != run(scenario, 8).elapsed_seconds);
}

TEST_CASE("simulation: every policy meets the same slowdowns") {
  std::vector<std::vector<Time>> drawn;
  for (const PolicyEntry& entry : all_policies()) {
    CAPTURE(entry.name);
    Scenario scenario = scenario_of(2, 2, {entry.name, {}});
    scenario.stragglers = {{.model = Bernoulli{.probability = 0.2, .factor = 5}},
                           {.model = Lognormal{.sigma = 0.1}}};
    scenario.stop.steps_per_worker = 40;
    std::vector<StepRecord> steps;
    (void)simulate(scenario, {.steps = &steps});
    std::vector<Time> table(160);
    for (const StepRecord& record : steps)
      table[index(record.worker) * 40 + record.step] = record.drawn;
    drawn.push_back(std::move(table));
    CHECK(drawn.back() == drawn.front());
  }
}

}  // namespace
}  // namespace cohort
