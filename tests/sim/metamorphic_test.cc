// How results move when an input does, without knowing the results themselves.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "tests/sim/runs.h"

namespace cohort {
namespace {

// 4x4 with latencies, jitter and stragglers: nothing coincides.
Scenario busy(const Choice& choice) {
  Scenario scenario = scenario_of(4, 4, choice);
  scenario.cluster.nic_latency.assign(4, 5us);
  scenario.cluster.fabric_latency = 3us;
  scenario.stragglers = {{.model = Bernoulli{.probability = 1.0 / 16, .factor = 3}},
                         {.model = Lognormal{.sigma = 0.02}}};
  scenario.stop.steps_per_worker = 100;
  return scenario;
}

void scale_bandwidths(ClusterSpec& cluster, double factor) {
  for (double& bandwidth : cluster.nic_bandwidth) bandwidth *= factor;
  cluster.fabric_bandwidth *= factor;
}

// Every worker computes and waits for the same time, so that a step is compute + latency +
// bandwidth part.
Scenario regular(const Choice& choice) {
  Scenario scenario = busy(choice);
  scenario.stragglers.clear();
  return scenario;
}

double seconds_per_step(const Scenario& scenario) { return 16 / throughput(run(scenario)); }

TEST_CASE("metamorphic: halving every bandwidth doubles the bandwidth part") {
  for (const char* kind : {"all-reduce", "static", "d-psgd", "parameter-server"}) {
    CAPTURE(kind);
    Scenario scenario = regular({kind});
    const double full = seconds_per_step(scenario);
    scale_bandwidths(scenario.cluster, 0.5);
    const double half = seconds_per_step(scenario);
    scale_bandwidths(scenario.cluster, 2e9);
    const double rest = seconds_per_step(scenario);  // compute and latency alone
    CHECK(half - rest == doctest::Approx(2 * (full - rest)).epsilon(1e-5));
  }
}

TEST_CASE("metamorphic: more contention never shortens a run of all-reduce or static") {
  for (const char* kind : {"all-reduce", "static"}) {
    CAPTURE(kind);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      double before = run(busy({kind}), seed).elapsed_seconds;
      for (const double core : {1e12, 20e9, 7e9, 3e9}) {
        Scenario scenario = busy({kind});
        scenario.cluster.core_bandwidth = core;
        const double now = run(scenario, seed).elapsed_seconds;
        CHECK(now >= before);
        before = now;
      }
      Scenario one_bus = busy({kind});
      one_bus.cluster.fabric = FabricKind::Shared;
      CHECK(run(one_bus, seed).elapsed_seconds >= run(busy({kind}), seed).elapsed_seconds);
    }
  }
}

TEST_CASE("metamorphic: slower links never shorten a run of all-reduce or static") {
  for (const char* kind : {"all-reduce", "static"}) {
    CAPTURE(kind);
    double before = 0;
    for (const double bandwidth : {20e9, 7e9, 6.5e9, 2e9, 0.1e9}) {
      Scenario scenario = busy({kind});
      scenario.cluster.nic_bandwidth[1] = bandwidth;
      const double now = run(scenario).elapsed_seconds;
      CHECK(now >= before);
      before = now;
    }
  }
}

TEST_CASE("metamorphic: two equal nodes may be swapped together with their trace") {
  for (const char* kind : {"all-reduce", "static"}) {
    CAPTURE(kind);
    std::vector<std::vector<Time>> times(16, std::vector<Time>(60));
    std::uint64_t state = 1;
    for (auto& row : times)
      for (Time& time : row)
        time = 80ms + Time{(state = state * 6364136223846793005u + 1442695040888963407u) >> 38};
    Scenario scenario = busy({kind});
    scenario.stop.steps_per_worker = 60;
    replay(scenario, times);
    const ResultRow before = run(scenario);
    for (std::size_t rank = 0; rank < 4; ++rank) std::swap(times[4 + rank], times[12 + rank]);
    replay(scenario, times);
    const ResultRow after = run(scenario);
    CHECK(after.elapsed_seconds == before.elapsed_seconds);
    CHECK(after.throughput_steps_per_second == before.throughput_steps_per_second);
    CHECK(after.sync_fraction == doctest::Approx(before.sync_fraction).epsilon(1e-12));
  }
}

TEST_CASE(
    "metamorphic: ten times the latency, bandwidth or compute moves the result, or the row names "
    "what dominates") {
  for (const PolicyEntry& entry : all_policies()) {
    CAPTURE(entry.name);
    const ResultRow base = run(busy({entry.name}));
    CHECK_FALSE(base.dominant_term.empty());
    std::array<Scenario, 3> scaled{busy({entry.name}), busy({entry.name}), busy({entry.name})};
    for (Time& latency : scaled[0].cluster.nic_latency) latency *= 10;
    scaled[0].cluster.fabric_latency *= 10;
    scale_bandwidths(scaled[1].cluster, 10);
    scaled[2].workload.compute *= 10;
    const std::array<const char*, 3> terms{"latency", "bandwidth", "compute"};
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(terms[i]);
      const double moved = run(scaled[i]).elapsed_seconds / base.elapsed_seconds - 1;
      CHECK((std::abs(moved) > 1e-4 || base.dominant_term != terms[i]));
    }
    CHECK(run(scaled[2]).elapsed_seconds > 5 * base.elapsed_seconds);
  }
}

TEST_CASE("metamorphic: the dominant term follows the input that is made to dominate") {
  Scenario scenario = regular({"all-reduce"});
  scenario.workload.compute = 10s;
  CHECK(run(scenario).dominant_term == "compute");
  scenario = regular({"all-reduce"});
  scale_bandwidths(scenario.cluster, 0.001);
  CHECK(run(scenario).dominant_term == "bandwidth");
  scenario = regular({"all-reduce"});
  scenario.cluster.nic_latency.assign(4, 1s);
  CHECK(run(scenario).dominant_term == "latency");
  scenario = regular({"random", {{"group_size", std::int64_t{16}}}});
  scenario.cluster.coordination_latency = 1s;
  CHECK(run(scenario).dominant_term == "coordination");
  scenario = regular({"all-reduce"});
  scenario.stragglers = {{.model = Fixed{.workers = {0}, .factor = 100}}};
  CHECK(run(scenario).dominant_term == "wait");
}

}  // namespace
}  // namespace cohort
