// What a whole run pays for synchronisation beside the plain transfer (SEMANTICS 1, 2, 3):
// coordination, communicators, overlap, background averages, interference, drain, endpoints, slow
// links, and the closed forms of each policy's own exchange.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "policies/errors.h"
#include "tests/sim/runs.h"

namespace cohort {
namespace {

constexpr double kRingOf4 = 1.5 * 60e6 / 7e9;  // seconds, one worker per node, alone

// Four nodes of one worker, 20 steps.
Scenario four(const Choice& choice) {
  Scenario scenario = scenario_of(4, 1, choice);
  scenario.stop.steps_per_worker = 20;
  return scenario;
}
Choice everybody_by_generator() { return {"random", {{"group_size", std::int64_t{4}}}}; }

TEST_CASE("simulation: a central policy pays a trip to the group generator and one back") {
  Scenario scenario = four(everybody_by_generator());
  scenario.cluster.coordination_latency = 3ms;
  const ResultRow row = run(scenario);
  check_step(row, 0.1 + 0.006 + kRingOf4, 20);
  CHECK(row.coordinate_fraction == doctest::Approx(0.006 / (0.106 + kRingOf4)).epsilon(1e-6));
  CHECK(row.wait_fraction == doctest::Approx(0).epsilon(1e-12));
}

TEST_CASE("simulation: local policies pay no coordination") {
  for (const char* kind : {"all-reduce", "static", "d-psgd", "ad-psgd", "parameter-server"}) {
    CAPTURE(kind);
    const double without = run(four({kind})).elapsed_seconds;
    Scenario scenario = four({kind});
    scenario.cluster.coordination_latency = 3ms;
    scenario.cluster.coordination_service = 1ms;
    const ResultRow row = run(scenario);
    CHECK(row.elapsed_seconds == without);
    CHECK(row.coordinate_fraction == 0);
  }
}

// In step, all push and then all pull over a link that could do both at once. Nothing but windows
// tells these workers apart.
TEST_CASE("simulation: behind windows the workers of an asynchronous server fall out of step") {
  Scenario scenario = scenario_of(4, 2, {"parameter-server", {{"mode", std::string("async")}}});
  scenario.cluster.nic_bandwidth.assign(4, 23.9e6);
  scenario.workload.compute = 50ms;
  scenario.workload.payload = 1e6;
  scenario.stop.steps_per_worker = 60;
  scenario.stragglers = {{.model = Lognormal{.sigma = 0.02}}};
  const double in_step = run(scenario).throughput_steps_per_second.value();
  scenario.cluster.nic_window = 170e3;
  const double out_of_step = run(scenario).throughput_steps_per_second.value();
  CHECK(out_of_step > 2 * in_step);
}

TEST_CASE("simulation: a release without a synchronisation takes effect after both trips") {
  Scenario scenario = scenario_of(1, 1, {"smart", {{"group_size", std::int64_t{1}}}});
  scenario.stop.steps_per_worker = 20;
  scenario.cluster.coordination_latency = 3ms;
  const ResultRow row = run(scenario);
  check_step(row, 0.106, 20);
  CHECK(row.coordinate_fraction == doctest::Approx(0.006 / 0.106).epsilon(1e-9));
}

TEST_CASE("simulation: only the last member's trips are coordination, the others wait") {
  Scenario scenario = four(everybody_by_generator());
  scenario.cluster.coordination_latency = 3ms;
  std::vector<std::vector<Time>> times(4, std::vector<Time>(20, 100ms));
  times[2].assign(20, 150ms);
  replay(scenario, times);
  const ResultRow row = run(scenario);
  const double step = 0.156 + kRingOf4;
  CHECK(row.coordinate_fraction == doctest::Approx(0.006 / step).epsilon(1e-6));
  CHECK(row.wait_fraction == doctest::Approx(3 * 0.05 / 4 / step).epsilon(1e-6));
}

TEST_CASE("simulation: the group generator serves one message at a time") {
  Scenario scenario = scenario_of(1, 1, {"smart", {{"group_size", std::int64_t{1}}}});
  scenario.stop.steps_per_worker = 20;
  scenario.cluster.coordination_latency = 3ms;
  scenario.cluster.coordination_service = 2ms;
  check_step(run(scenario), 0.1 + 2 * (0.003 + 0.002), 20);
}

TEST_CASE(
    "simulation: where the group generator hosts all policies, local ones pay both trips too") {
  Scenario scenario = four({"all-reduce"});
  scenario.cluster.coordination_latency = 3ms;
  const double local = run(scenario).elapsed_seconds;
  scenario.cluster.coordination_hosted = true;
  CHECK(run(scenario).elapsed_seconds == doctest::Approx(local + 20 * 2 * 0.003).epsilon(1e-9));
}

TEST_CASE("simulation: messages to the group generator queue, two for each worker and step") {
  Scenario scenario = four(everybody_by_generator());
  scenario.cluster.coordination_service = 1ms;
  const double queued = run(scenario).elapsed_seconds / 20 - 0.1 - kRingOf4;
  // Four readies of one instant are served one after another; then at least one answer and at most
  // four.
  CHECK(queued >= 0.005 - 1e-9);
  CHECK(queued <= 0.008 + 1e-9);
}

TEST_CASE("simulation: a member list pays communicator set-up once while it is cached") {
  Scenario scenario = four({"all-reduce"});
  scenario.cluster.communicator_setup = 150ms;
  const ResultRow row = run(scenario);
  CHECK(row.elapsed_seconds == doctest::Approx(20 * (0.1 + kRingOf4) + 0.15).epsilon(1e-8));
  CHECK(row.communicators_created == 1);
  scenario.warmup_steps = 0;
  const ResultRow whole = run(scenario);
  CHECK(whole.coordinate_fraction == doctest::Approx(0.15 / whole.elapsed_seconds).epsilon(1e-6));
}

TEST_CASE("simulation: with room for one list, two alternating lists are made anew each time") {
  Scenario scenario = four({"static", {{"phases", Phases{{{0, 1, 2, 3}}, {{0, 1}, {2, 3}}}}}});
  scenario.cluster.communicator_setup = 150ms;
  scenario.cluster.communicator_cache = 1;
  const ResultRow row = run(scenario);
  CHECK(row.elapsed_seconds == doctest::Approx(10 * (0.5 + kRingOf4 + 60e6 / 7e9)).epsilon(1e-8));
  CHECK(row.communicators_created == 30);
  scenario.cluster.communicator_cache = 2;
  CHECK(run(scenario).communicators_created == 3);
}

TEST_CASE("simulation: pairs, mixes and servers need no communicator") {
  for (const char* kind : {"ad-psgd", "d-psgd", "parameter-server"}) {
    CAPTURE(kind);
    Scenario scenario = four({kind});
    const double without = run(scenario).elapsed_seconds;
    scenario.cluster.communicator_setup = 1s;
    CHECK(run(scenario).elapsed_seconds == without);
  }
}

TEST_CASE("simulation: overlapped all-reduce shows max(T(B/k), T - (1 - 1/k) backward)") {
  for (const std::uint32_t k : {1, 2, 3, 10, 60}) {
    for (const double compute_ms : {5.0, 30.0, 100.0}) {
      CAPTURE(k);
      CAPTURE(compute_ms);
      Scenario scenario = four({"all-reduce", {{"overlap", true}}});
      scenario.cluster.nic_latency.assign(4, 5us);
      scenario.workload.compute = from_seconds_up(compute_ms * 1e-3);
      scenario.workload.buckets = k;
      const double latency = 6 * 10e-6;
      const double whole = latency + kRingOf4;
      const double backward = 2.0 / 3 * compute_ms * 1e-3;
      const double visible = std::max(latency + kRingOf4 / k, whole - (1 - 1.0 / k) * backward);
      check_step(run(scenario), compute_ms * 1e-3 + visible, 20, 3);
    }
  }
}

TEST_CASE(
    "simulation: the last bucket of an overlapped all-reduce crosses a slow NIC at its slow rate") {
  Scenario scenario = four({"all-reduce", {{"overlap", true}}});
  scenario.workload.buckets = 10;  // of 4 times the payload's time, all but the last is hidden
  scenario.link_stragglers = {
      {.nodes = {2}, .enter_per_second = 1e9, .leave_per_second = 0, .factor = 4}};
  check_step(run(scenario), 0.1 + 4 * kRingOf4 / 10, 20, 3);
}

TEST_CASE("simulation: without overlap, buckets change nothing") {
  Scenario scenario = four({"all-reduce"});
  const double without = run(scenario).elapsed_seconds;
  scenario.workload.buckets = 10;
  CHECK(run(scenario).elapsed_seconds == without);
}

TEST_CASE(
    "simulation: time until a member's end of compute counts as compute, also during the overlap") {
  Scenario scenario = four({"all-reduce", {{"overlap", true}}});
  scenario.workload.buckets = 10;
  const ResultRow row = run(scenario);
  CHECK(row.compute_fraction == doctest::Approx(0.1 / (0.1 + kRingOf4 / 10)).epsilon(1e-6));
  CHECK(row.wait_fraction == doctest::Approx(0).epsilon(1e-9));
}

TEST_CASE("simulation: background averages cost max(step, communication)") {
  for (const double compute_ms : {5.0, 12.0, 50.0}) {
    CAPTURE(compute_ms);
    Scenario scenario = four({"all-reduce", {{"timing", std::string("background")}}});
    scenario.workload.compute = from_seconds_up(compute_ms * 1e-3);
    scenario.stop.steps_per_worker = 200;
    const double step = std::max(compute_ms * 1e-3, kRingOf4);
    CHECK(4 / throughput(run(scenario)) == doctest::Approx(step).epsilon(1e-6));
  }
}

TEST_CASE(
    "simulation: a background exchange counts for nobody, waiting for the previous one is wait") {
  Scenario scenario = four({"all-reduce", {{"timing", std::string("background")}}});
  scenario.workload.compute = 5ms;
  scenario.stop.steps_per_worker = 200;
  const ResultRow row = run(scenario);
  CHECK(row.sync_fraction == 0);
  CHECK(row.compute_fraction == doctest::Approx(0.005 / kRingOf4).epsilon(1e-3));
  CHECK(row.wait_fraction == doctest::Approx(1 - 0.005 / kRingOf4).epsilon(1e-3));
}

TEST_CASE("simulation: compute runs (1+q) slower while a transfer of the worker is active") {
  Scenario scenario = four({"all-reduce", {{"timing", std::string("background")}}});
  scenario.cluster.nic_latency.assign(4, 5us);  // elapses first and slows nobody
  scenario.workload.interference = 0.25;
  scenario.stop.steps_per_worker = 100;
  std::vector<StepRecord> steps;
  const ResultRow row = simulate(scenario, {.steps = &steps});
  const double stretched = 0.1 + kRingOf4 * (1 - 1 / 1.25);
  CHECK(4 / throughput(row) == doctest::Approx(stretched).epsilon(1e-7));
  for (const StepRecord& step : steps) {
    CHECK(step.drawn == 100ms);
    if (step.step > 0) CHECK(seconds(step.stretched) == doctest::Approx(stretched).epsilon(1e-7));
  }
}

TEST_CASE("simulation: the served side of a pair mean is slowed, a blocked worker is not") {
  Scenario scenario = scenario_of(2, 1, {"ad-psgd"});
  scenario.workload.interference = 1;
  scenario.stop.steps_per_worker = 3;
  std::vector<StepRecord> steps;
  (void)simulate(scenario, {.steps = &steps});
  const double pair = 60e6 / 7e9;
  for (const StepRecord& step : steps) {
    const bool served = index(step.worker) == 1 && step.step > 0;
    if (step.step < 2)
      CHECK(seconds(step.stretched) ==
            doctest::Approx(served ? 0.1 + pair / 2 : 0.1).epsilon(1e-7));
  }
}

TEST_CASE("simulation: drain is added to every blocking synchronisation") {
  Scenario scenario = four({"all-reduce"});
  scenario.workload.drain = 7ms;
  check_step(run(scenario), 0.107 + kRingOf4, 20);
}

TEST_CASE("simulation: a local mean passes three times over the payload at the memory bandwidth") {
  Scenario scenario = four({"all-reduce"});
  scenario.cluster.memory_bandwidth = 20e9;
  check_step(run(scenario), 0.1 + kRingOf4 + 3 * 60e6 / 20e9, 20);
}

// Runs of this size look ahead; between the end of its transfer and its own a synchronisation then
// has none to look at.
TEST_CASE("simulation: a local mean or a tail behind the transfer, on a large cluster") {
  const auto large = [](const Choice& choice) {
    Scenario scenario = scenario_of(1024, 4, choice);
    scenario.stop.steps_per_worker = 3;
    return scenario;
  };
  for (const char* policy : {"smart", "random", "all-reduce"}) {
    CAPTURE(policy);
    Scenario scenario = large({policy});
    const double without = throughput(run(scenario));
    scenario.cluster.memory_bandwidth = 1e9;
    CHECK(throughput(run(scenario)) < without);
  }
  Scenario overlapped = large({"all-reduce", {{"overlap", true}}});
  overlapped.workload.buckets = 10;
  overlapped.workload.backward_share = 0.66;
  CHECK(throughput(run(overlapped)) > throughput(run(large({"all-reduce"}))));
}

TEST_CASE("simulation: what would end after 292 years is refused, not wrapped around") {
  const auto ends_late = [](auto change) {
    Scenario scenario = four({"all-reduce"});
    change(scenario);
    CHECK_THROWS_WITH_AS((void)run(scenario), doctest::Contains("292 years"), InputError);
  };
  ends_late([](Scenario& s) { s.workload.payload = 5e18; });           // transfers
  ends_late([](Scenario& s) { s.cluster.memory_bandwidth = 0.1; });    // local means
  ends_late([](Scenario& s) { s.workload.drain = Time::max() / 3; });  // what loads no link
  Scenario scenario = four({"all-reduce"});
  scenario.cluster.memory_bandwidth = 1e-5;  // one mean alone is longer
  CHECK_THROWS_WITH_AS((void)run(scenario), doctest::Contains("does not fit"), ContractError);
}

TEST_CASE("simulation: endpoint_bandwidth is a private link of each worker") {
  Scenario scenario = scenario_of(1, 2, {"ad-psgd", {{"endpoint_bandwidth", 0.7e9}}});
  scenario.stop.steps_per_worker = 20;
  check_step(run(scenario), 0.1 + 60e6 / 0.7e9, 20);
}

TEST_CASE("simulation: a link straggler that never recovers divides the bandwidth of its NIC") {
  Scenario scenario = four({"all-reduce"});
  scenario.link_stragglers = {
      {.nodes = {2}, .enter_per_second = 1e9, .leave_per_second = 0, .factor = 5}};
  check_step(run(scenario), 0.1 + 5 * kRingOf4, 20);
}

TEST_CASE("simulation: however unevenly transfers share a link, the last one ends as before") {
  Scenario scenario = four({"parameter-server"});  // three workers push and pull through one NIC
  scenario.stop.steps_per_worker = 1;
  const ResultRow even = run(scenario);
  scenario.cluster.sharing_spread = 0.5;
  const ResultRow uneven = run(scenario);
  CHECK(uneven.elapsed_seconds == doctest::Approx(even.elapsed_seconds).epsilon(1e-6));
  CHECK(uneven.wait_fraction > even.wait_fraction + 0.01);
  CHECK(uneven.inter_node_bytes == even.inter_node_bytes);
}

TEST_CASE("simulation: a transfer alone on its links takes as long whatever its weight") {
  Scenario scenario = four({"all-reduce"});
  const double even = run(scenario).elapsed_seconds;
  scenario.cluster.sharing_spread = 0.5;
  CHECK(run(scenario).elapsed_seconds == doctest::Approx(even).epsilon(1e-7));
}

TEST_CASE("simulation: link stragglers slow their NICs for enter/(enter+leave) of the time") {
  Scenario scenario = four({"all-reduce"});
  scenario.workload.compute = 1us;
  scenario.stop.steps_per_worker = 40'000;
  scenario.link_stragglers = {
      {.nodes = {0}, .enter_per_second = 1, .leave_per_second = 3, .factor = 5}};
  const double slow = 0.25;  // share of time; work done in it is a fifth
  const double expected = kRingOf4 / (1 - slow + slow / 5) + 1e-6;
  CHECK(4 / throughput(run(scenario)) == doctest::Approx(expected).epsilon(0.05));
}

TEST_CASE(
    "simulation: a synchronous parameter server pushes all gradients, updates, pulls all "
    "parameters") {
  Scenario scenario = four({"parameter-server", {{"update_time", Time{2ms}}}});
  const ResultRow row = run(scenario);
  const double three_at_once =
      3 * 60e6 / 7e9;  // worker 0 is on the server's node and uses the fabric
  check_step(row, 0.1 + 2 * three_at_once + 0.002, 20, 2);
  CHECK(row.synchronisations == 20 * 8);
  CHECK(row.inter_node_bytes == doctest::Approx(20 * 6 * 60e6).epsilon(1e-12));
  CHECK(row.intra_node_bytes == doctest::Approx(20 * 2 * 60e6).epsilon(1e-12));
}

TEST_CASE("simulation: d-psgd's neighbours read one another at once") {
  Scenario scenario = four({"d-psgd"});
  const ResultRow row = run(scenario);
  check_step(row, 0.1 + 2 * 60e6 / 7e9, 20);
  CHECK(row.synchronisations == 80);
  CHECK(row.inter_node_bytes == doctest::Approx(20 * 8 * 60e6).epsilon(1e-12));
}

TEST_CASE("simulation: ad-psgd's passive side goes on computing") {
  Scenario scenario = scenario_of(2, 1, {"ad-psgd"});
  scenario.stop.steps_per_worker = 20;
  const ResultRow row = run(scenario);
  check_step(row, 0.1 + 60e6 / 7e9, 20);
  CHECK(row.sync_fraction < 0.05);  // half of the workers, 8.6 of 109 ms
  CHECK(row.synchronisations == 20);
}

}  // namespace
}  // namespace cohort
