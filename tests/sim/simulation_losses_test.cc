// Workers that are lost in a simulated run: the others go on, whatever the policy and the instant
// (SEMANTICS 2).
#include <doctest/doctest.h>

#include <vector>

#include "tests/sim/runs.h"

namespace cohort {
namespace {

Scenario with_losses(const Choice& choice, std::vector<Loss> losses) {
  Scenario scenario = scenario_of(4, 4, choice);
  scenario.stop.steps_per_worker = 30;
  scenario.stragglers = {{.model = Lognormal{.sigma = 0.1}}};
  scenario.losses = std::move(losses);
  return scenario;
}

TEST_CASE("simulation: after a loss the others do their quota under every policy") {
  for (const PolicyEntry& entry : all_policies()) {
    for (const Time at : {0ms + 50us, 100ms + 1us, 107ms + 0us, 1234ms + 0us}) {
      CAPTURE(entry.name);
      CAPTURE(at.count());
      const ResultRow row = run(with_losses({entry.name}, {{.at = at, .worker = WorkerId{5}}}));
      CHECK(row.worker_steps >= 15 * 30);
      CHECK(row.worker_steps < 16 * 30);
      CHECK(sum_of_fractions(row) == doctest::Approx(1.0).epsilon(1e-9));
    }
  }
}

TEST_CASE("simulation: a run goes on with the last worker alone") {
  for (const PolicyEntry& entry : all_policies()) {
    CAPTURE(entry.name);
    std::vector<Loss> losses;
    for (std::uint32_t w = 0; w < 15; ++w)
      losses.push_back({.at = Time{(w + 3) * 61'000'000}, .worker = WorkerId{w}});
    CHECK(run(with_losses({entry.name}, losses)).worker_steps >= 30);
  }
}

TEST_CASE("simulation: a loss ends the throughput window") {
  Scenario scenario = scenario_of(1, 2, {"static", {{"phases", Phases{{{0}}}}}});
  scenario.stop.steps_per_worker = 20;
  scenario.warmup_steps = 0;
  scenario.losses = {{.at = 1050ms, .worker = WorkerId{0}}};
  const ResultRow row = run(scenario);
  CHECK(throughput(row) == doctest::Approx(20 / 1.05).epsilon(1e-12));
  CHECK(row.worker_steps == 30);
  CHECK(row.elapsed_seconds == doctest::Approx(2.0).epsilon(1e-12));
}

TEST_CASE("simulation: a synchronisation that loses a member starts again without it") {
  Scenario scenario = scenario_of(4, 1, {"all-reduce"});
  scenario.stop.steps_per_worker = 1;
  const double ring_of_4 = 1.5 * 60e6 / 7e9, ring_of_3 = 4.0 / 3 * 60e6 / 7e9;
  scenario.losses = {{.at = 105ms, .worker = WorkerId{3}}};
  CHECK(ring_of_4 > 0.005);
  const ResultRow row = run(scenario);
  CHECK(row.elapsed_seconds == doctest::Approx(0.105 + ring_of_3).epsilon(1e-7));
  CHECK(row.synchronisations == 1);
  CHECK(row.worker_steps == 3);
}

}  // namespace
}  // namespace cohort
