// Rows, steps and timelines of hand-made records of real runs.
#include "experiments/real_row.h"

#include <doctest/doctest.h>

#include <sstream>

#include "experiments/experiment.h"
#include "experiments/step_split.h"
#include "tests/experiments/base_spec.h"
#include "traces/compute_trace.h"

namespace cohort {
namespace {

using doctest::Approx;
using testing::TemporaryDirectory;

constexpr Time ms(std::int64_t count) { return std::chrono::milliseconds(count); }

// Two workers on two nodes, 1 MB of parameters.
Scenario scenario(const Json& changes = Json::object(), const char* policy = "all-reduce") {
  const TemporaryDirectory directory;
  auto document = testing::base_spec();
  document["cluster"]["gpus_per_node"] = 1;
  document["stragglers"] = Json::array();
  document["stop"] = {{"steps_per_worker", 2}};
  document["warmup_steps"] = 0;
  document["policies"] = {policy};
  document.update(changes);
  const Experiment experiment(directory.write("spec.json", document.dump()), {});
  return experiment.base().scenario(experiment.base().policies[0], 1);
}

StepTiming step(std::uint32_t worker, std::uint64_t number, std::array<std::int64_t, 4> at,
                std::optional<SyncId> sync) {
  return {.worker = WorkerId{worker},
          .step = number,
          .work = ms(10),
          .began = ms(at[0]),
          .ended = ms(at[1]),
          .arrived = ms(at[2]),
          .resumed = ms(at[3]),
          .sync = sync};
}

MemberTiming member(std::uint32_t worker, Role role, double weight, std::int64_t began,
                    std::int64_t ended, std::int64_t communicator = 0) {
  return {.member = {WorkerId{worker}, role, weight},
          .received = ms(began - 1),
          .communicator = ms(communicator),
          .began = ms(began),
          .ended = ms(ended)};
}

// Both workers average after each of two steps. Worker 1 is slower: its ready takes 2 ms to arrive
// and the start takes effect 3 ms after the decision. A step lasts 40 ms.
RunRecord all_reduce() {
  RunRecord record;
  for (int s = 0; s < 2; ++s) {
    const auto from = 40 * s;
    const SyncId id{static_cast<std::uint64_t>(s + 1)};
    record.steps.push_back(step(0, s, {from, from + 10, from + 11, from + 40}, id));
    record.steps.push_back(step(1, s, {from, from + 20, from + 22, from + 40}, id));
    record.syncs.push_back({.id = id,
                            .decided = ms(from + 22),
                            .done = ms(from + 38),
                            .members = {member(0, Role::Blocking, 0.5, from + 25, from + 35, 1),
                                        member(1, Role::Blocking, 0.5, from + 25, from + 35, 1)},
                            .largest_error = {}});
  }
  record.elapsed = ms(80);
  record.communicators.misses = 1;
  return record;
}

TEST_CASE("real row: time is split at decision, trip and transfer; shares sum to 1") {
  const auto row = real_row(scenario(), all_reduce());
  CHECK(row.worker_steps == 4);
  CHECK(row.elapsed_seconds == Approx(0.08));
  CHECK(row.throughput_steps_per_second.value() == Approx(4 / 0.08));
  CHECK(row.compute_fraction == Approx(30.0 / 80));
  CHECK(row.wait_fraction == Approx(10.0 / 80));        // of worker 0: 10 .. 22 - 2
  CHECK(row.coordinate_fraction == Approx(20.0 / 80));  // 20 .. 25 and 35 .. 40, both workers
  CHECK(row.sync_fraction == Approx(20.0 / 80));
  CHECK(row.synchronisations == 2);
  CHECK(row.communicators_created == 1);
  CHECK(row.max_step_skew == 0);
  CHECK(row.conflicts == 0);
  CHECK_FALSE(row.whole_run_window);
  CHECK_FALSE(row.connected.has_value());
}

TEST_CASE("real row: bytes are those of the simulator for the same synchronisations") {
  const auto spec = scenario();
  const auto simulated = simulate(spec);
  const auto real = real_row(spec, all_reduce());
  CHECK(real.synchronisations == simulated.synchronisations);
  CHECK(real.inter_node_bytes == simulated.inter_node_bytes);
  CHECK(real.intra_node_bytes == simulated.intra_node_bytes);
}

TEST_CASE("real row: workers on one host have no bytes between nodes") {
  const auto row = real_row(on_nodes(scenario(), {2}), all_reduce());
  CHECK(row.inter_node_bytes == 0);
  CHECK(row.intra_node_bytes > 0);
}

TEST_CASE("real row: the window opens when the slowest worker has done its warm-up") {
  const auto row = real_row(scenario({{"warmup_steps", 1}}), all_reduce());
  CHECK(row.throughput_steps_per_second.value() == Approx(2 / 0.04));
  CHECK(row.compute_fraction == Approx(30.0 / 80));
  CHECK(row.worker_steps == 4);
}

TEST_CASE(
    "real row: the window closes when the first worker has its quota, steps at its end count") {
  auto record = all_reduce();
  record.steps.back().resumed = ms(100);
  record.elapsed = ms(100);
  const auto row = real_row(scenario(), record);
  CHECK(row.throughput_steps_per_second.value() == Approx(3 / 0.08));
  CHECK(row.elapsed_seconds == Approx(0.1));
}

TEST_CASE("real row: a run that ends at its time counts neither unfinished steps nor later ones") {
  auto record = all_reduce();
  record.elapsed = ms(70);
  const auto row = real_row(scenario({{"stop", {{"seconds", "70ms"}}}}), record);
  CHECK(row.worker_steps == 2);
  CHECK(row.synchronisations == 1);
  CHECK(row.elapsed_seconds == Approx(0.07));
}

TEST_CASE("real row: a failed synchronisation is time spent, and not counted") {
  auto record = all_reduce();
  record.syncs[0].failed = true;
  for (auto& part : record.syncs[0].members) part.began = part.ended = Time{};
  const auto row = real_row(scenario(), record);
  CHECK(row.synchronisations == 1);
  CHECK(row.compute_fraction + row.wait_fraction + row.sync_fraction + row.coordinate_fraction ==
        Approx(1));
}

TEST_CASE("real row: with a lost worker the window ends where it was last seen") {
  auto record = all_reduce();
  record.steps.pop_back();  // worker 1 has one step
  record.syncs.pop_back();
  record.steps.back().sync.reset();
  record.lost = {"rank 1 was lost"};
  const auto row = real_row(scenario(), record);
  CHECK(row.throughput_steps_per_second.value() == Approx(2 / 0.04));
}

TEST_CASE("real row: between push and pull a worker waits, the trips are coordination") {
  RunRecord record;
  record.steps = {step(0, 0, {0, 10, 11, 60}, SyncId{2})};
  const auto server = member(2, Role::Server, 0, 13, 20);
  record.syncs = {{.id = SyncId{1},
                   .kind = SyncKind::ServerPush,
                   .decided = ms(11),
                   .done = ms(22),
                   .members = {member(0, Role::Blocking, 1, 13, 20), server},
                   .largest_error = {}},
                  {.id = SyncId{2},
                   .kind = SyncKind::ServerPull,
                   .decided = ms(40),
                   .done = ms(55),
                   .members = {member(0, Role::Blocking, 1, 42, 52), server},
                   .largest_error = {}}};
  record.elapsed = ms(60);
  const auto split = split_steps(record, 2);
  REQUIRE(split.steps[0].size() == 1);
  std::array<Time, 4> spent{};
  for (const auto& interval : split.steps[0][0].intervals)
    spent[static_cast<std::size_t>(interval.how)] += interval.end - interval.begin;
  CHECK(spent[0] == ms(10));
  CHECK(spent[1] == ms(18));  // 20 .. 40 - 2
  CHECK(spent[2] == ms(7 + 10));
  CHECK(spent[3] == ms(3 + 4 + 8));  // 10 .. 13, 38 .. 42, 52 .. 60
}

TEST_CASE("real row: a transfer lasts from the last member's beginning to the last member's end") {
  auto record = all_reduce();
  record.syncs[0].members[0].began = ms(23);  // of 25 .. 35
  record.syncs[0].members[0].ended = ms(30);
  CHECK(real_row(scenario(), record).sync_fraction == Approx(20.0 / 80));
}

TEST_CASE("real row: a release without a synchronisation waits between its two trips") {
  RunRecord record;
  record.steps = {step(0, 0, {0, 10, 11, 20}, std::nullopt)};
  record.elapsed = ms(20);
  const auto split = split_steps(record, 2);
  const auto& intervals = split.steps[0][0].intervals;
  REQUIRE(intervals.size() == 3);
  CHECK(intervals[1].how == Spent::Wait);
  CHECK(intervals[1].end == ms(18));
  CHECK(intervals[2].how == Spent::Coordinate);
}

TEST_CASE("real row: background and passive members spend no time in a synchronisation") {
  auto record = all_reduce();
  for (auto& sync : record.syncs) sync.members[0].member.role = Role::Passive;
  const auto row = real_row(scenario(), record);
  CHECK(row.sync_fraction == Approx(10.0 / 80));
}

TEST_CASE("real row: instants out of order by the clocks' error are clamped, never negative") {
  auto record = all_reduce();
  record.syncs[0].members[0].began = ms(21);  // before the decision
  record.syncs[0].members[1].ended = ms(41);  // after the next step began
  const auto split = split_steps(record, 2);
  for (const auto& steps : split.steps) {
    Time at{};
    for (const auto& split_step : steps) {
      for (const auto& interval : split_step.intervals) {
        CHECK(interval.begin == at);
        CHECK(interval.end > interval.begin);
        at = interval.end;
      }
    }
    CHECK(at == ms(80));
  }
}

TEST_CASE("real row: a step whose answer came before its end by the clocks' error is done") {
  auto record = all_reduce();
  record.steps.back().resumed = record.steps.back().ended - Time{1'000};
  CHECK(real_row(scenario(), record).worker_steps == 4);
}

TEST_CASE("real row: a synchronisation held back after its last ready is a conflict") {
  auto record = all_reduce();
  record.syncs[0].decided = ms(23);
  CHECK(real_row(scenario(), record).conflicts == 1);
}

TEST_CASE("steps: the file of a run is a compute trace of the drawn work") {
  const TemporaryDirectory directory;
  const auto text = steps_csv(all_reduce(), 2);
  const auto trace = read_compute_trace(directory.write("steps.csv", text));
  CHECK(trace.workers() == 2);
  CHECK(trace.steps() == 2);
  CHECK(trace.at(1, 1) == ms(10));
  CHECK(text.find("1,0,0.010000000,0.020000000,0.000000000,0.010000000,0.001000000,0.010000000,"
                  "0.002000000\n") != std::string::npos);
}

TEST_CASE("timeline of a real run: every interval, synchronisations with their members") {
  std::ostringstream out;
  real_timeline(all_reduce(), 2).write(out, Topology(2, 1));
  const auto events = Json::parse(out.str())["traceEvents"];
  std::size_t syncs = 0;
  for (const auto& event : events)
    if (event["name"] == "sync" && event["args"]["members"] == Json{0, 1}) ++syncs;
  CHECK(syncs == 4);
}

TEST_CASE("run setup: what the group generator needs of a scenario") {
  auto spec = scenario();
  spec.cluster.compute_factor = {1, 2};
  const auto setup = setup_of(spec);
  CHECK(setup.base == std::vector<Time>{ms(10), ms(20)});
  CHECK(setup.entries == 250'000);
  CHECK(setup.topology.workers() == 2);
  CHECK(setup.steps_per_worker == 2);
  CHECK(setup.communicator_cache == 256);
}

}  // namespace
}  // namespace cohort
