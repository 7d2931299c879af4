#include "sim/statistics.h"

#include <doctest/doctest.h>

namespace cohort {
namespace {

constexpr Time kSecond{1'000'000'000};

ResultRow filled(const Statistics& statistics, Time end) {
  ResultRow row;
  statistics.fill(row, end);
  return row;
}

}  // namespace

TEST_CASE("statistics: intervals are clipped to the window, totals are of the whole run") {
  Statistics statistics;
  statistics.open_window(1 * kSecond);
  statistics.close_window(3 * kSecond);
  statistics.spent(Spent::Compute, 0 * kSecond, 2 * kSecond);
  statistics.spent(Spent::Sync, 2 * kSecond, 5 * kSecond);
  statistics.synchronised(4, 4, Time{}, 100, 50);
  const ResultRow row = filled(statistics, 5 * kSecond);
  CHECK(row.compute_fraction == doctest::Approx(0.5));
  CHECK(row.sync_fraction == doctest::Approx(0.5));
  CHECK(row.wait_fraction == 0);
  CHECK_FALSE(row.whole_run_window);
  CHECK(row.elapsed_seconds == 5);
  CHECK(row.synchronisations == 1);
  CHECK(row.inter_node_bytes == 100);
  CHECK(row.intra_node_bytes == 50);
}

TEST_CASE("statistics: steps that end at t1 count, those that end at t0 do not") {
  Statistics statistics;
  statistics.open_window(1 * kSecond);
  statistics.close_window(3 * kSecond);
  statistics.step_done(1 * kSecond);
  statistics.step_done(2 * kSecond);
  statistics.step_done(3 * kSecond);
  statistics.step_done(4 * kSecond);
  const ResultRow row = filled(statistics, 4 * kSecond);
  CHECK(row.worker_steps == 4);
  CHECK(row.throughput_steps_per_second == doctest::Approx(2 / 2.0));
}

TEST_CASE("statistics: the window keeps its first opening and its first closing") {
  Statistics statistics;
  statistics.open_window(1 * kSecond);
  statistics.open_window(2 * kSecond);
  statistics.close_window(3 * kSecond);
  statistics.close_window(9 * kSecond);
  statistics.step_done(2 * kSecond);
  CHECK(filled(statistics, 9 * kSecond).throughput_steps_per_second == doctest::Approx(0.5));
}

TEST_CASE("statistics: a window that nobody closed ends with the run") {
  Statistics statistics;
  statistics.open_window(Time{});
  statistics.step_done(2 * kSecond);
  CHECK(filled(statistics, 4 * kSecond).throughput_steps_per_second == doctest::Approx(0.25));
}

TEST_CASE("statistics: an empty window gives way to the whole run, and the row says so") {
  Statistics statistics;
  statistics.close_window(1 * kSecond);
  statistics.spent(Spent::Wait, Time{}, 1 * kSecond);
  statistics.step_done(1 * kSecond);
  const ResultRow row = filled(statistics, 2 * kSecond);
  CHECK(row.whole_run_window);
  CHECK(row.wait_fraction == 1);
  CHECK(row.throughput_steps_per_second == doctest::Approx(0.5));
}

TEST_CASE("statistics: a run of no time has no throughput") {
  CHECK_FALSE(filled(Statistics{}, Time{}).throughput_steps_per_second.has_value());
}

TEST_CASE("statistics: the term with the largest share of worker time dominates") {
  const auto dominant = [](Time sync, Time fixed, Time wait) {
    Statistics statistics;
    statistics.open_window(Time{});
    statistics.spent(Spent::Compute, Time{}, 2 * kSecond);
    statistics.spent(Spent::Sync, Time{}, sync);
    statistics.spent(Spent::Wait, Time{}, wait);
    statistics.synchronised(1, 1, fixed, 0, 0);
    return filled(statistics, 100 * kSecond).dominant_term;
  };
  CHECK(dominant(1 * kSecond, Time{}, Time{}) == "compute");
  CHECK(dominant(5 * kSecond, 1 * kSecond, Time{}) == "bandwidth");
  CHECK(dominant(5 * kSecond, 4 * kSecond, Time{}) == "latency");
  CHECK(dominant(5 * kSecond, 1 * kSecond, 9 * kSecond) == "wait");
}

TEST_CASE("statistics: a synchronisation of one is not counted") {
  Statistics statistics;
  statistics.synchronised(1, 1, Time{}, 0, 0);
  CHECK(filled(statistics, kSecond).synchronisations == 0);
}

}  // namespace cohort
