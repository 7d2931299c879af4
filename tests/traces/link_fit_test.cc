#include "traces/link_fit.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "policies/errors.h"
#include "tests/skip.h"
#include "tests/traces/files.h"

namespace cohort {
namespace {

NcclLog all_reduce(std::uint32_t ranks, std::vector<std::pair<std::uint64_t, double>> rows) {
  NcclLog log;
  log.file = "log";
  log.collective = NcclCollective::AllReduce;
  log.ranks = ranks;
  log.hosts = {"alpha"};
  for (const auto& [bytes, us] : rows)
    log.rows.push_back({bytes, us, std::nullopt, std::nullopt, 1});
  return log;
}

bool refuses(const LinkFit& fit, std::string_view words) {
  for (const std::string& refusal : fit.refusals) {
    if (refusal.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE(
    "link fit: times of a latency and a bandwidth give both back, per collective and per hop") {
  // t = 30 us + S / 10 GB/s
  const LinkFit fit =
      fit_link(all_reduce(4, {{8, 30.0008}, {1'000'000, 130}, {100'000'000, 10'030}}));
  REQUIRE(fit.fit);
  CHECK(fit.fit->latency_seconds == doctest::Approx(30e-6).epsilon(1e-9));
  CHECK(fit.fit->bytes_per_second == doctest::Approx(10e9).epsilon(1e-9));
  CHECK(fit.fit->worst_error < 1e-9);
  REQUIRE(fit.hop);
  CHECK(fit.hop->latency_seconds == doctest::Approx(5e-6).epsilon(1e-9));   // 2(g-1) = 6 hops
  CHECK(fit.hop->bytes_per_second == doctest::Approx(15e9).epsilon(1e-9));  // factor 1.5
  CHECK(*fit.tail_bytes_per_second == doctest::Approx(10e9).epsilon(1e-9));
  CHECK(*fit.floor_seconds == doctest::Approx(30.0008e-6).epsilon(1e-12));
}

TEST_CASE("link fit: bus bandwidths come from size and time; equal sizes give their median") {
  const LinkFit fit =
      fit_link(all_reduce(4, {{0, 9}, {1000, 10}, {1000, 30}, {1000, 20}, {3000, 20}}));
  REQUIRE(fit.curve.size() == 2);
  CHECK(fit.curve[0].seconds == doctest::Approx(20e-6).epsilon(1e-12));
  CHECK(*fit.curve[1].bus_bytes_per_second == doctest::Approx(1.5 * 150e6).epsilon(1e-12));
}

TEST_CASE("link fit: one size shows no latency, one rank no link") {
  const LinkFit one_size = fit_link(all_reduce(4, {{1000, 10}, {1000, 11}}));
  CHECK_FALSE(one_size.fit);
  CHECK_FALSE(one_size.tail_bytes_per_second);
  CHECK(refuses(one_size, "from one size"));
  const LinkFit one_rank = fit_link(all_reduce(1, {{8, 5}, {1'000'000, 10}, {2'000'000, 15}}));
  CHECK_FALSE(one_rank.fit);
  CHECK_FALSE(one_rank.tail_bytes_per_second);
  CHECK_FALSE(one_rank.curve[0].bus_bytes_per_second);
  CHECK(refuses(one_rank, "one rank"));
}

TEST_CASE("link fit: large sizes alone show no latency, small sizes alone no bandwidth") {
  const LinkFit large =
      fit_link(all_reduce(4, {{1'000'000'000, 100'030}, {2'000'000'000, 200'030}}));
  CHECK_FALSE(large.fit);
  CHECK(refuses(large, "no latency"));
  CHECK(refuses(large, "no floor"));
  const LinkFit small = fit_link(all_reduce(4, {{8, 30}, {64, 30.1}, {512, 30.05}}));
  CHECK_FALSE(small.fit);
  CHECK(refuses(small, "no bandwidth"));
}

TEST_CASE("link fit: nothing comes out of a failed run or a log without rows") {
  NcclLog failed = all_reduce(4, {{8, 30}, {1'000'000, 130}});
  failed.failures.emplace_back("line 9: 3 wrong elements");
  CHECK_THROWS_WITH_AS((void)fit_link(failed), doctest::Contains("3 wrong elements"), InputError);
  CHECK_THROWS_AS((void)fit_link(all_reduce(4, {})), InputError);
  CHECK_THROWS_AS((void)fit_link(all_reduce(4, {{0, 9}})), InputError);
}

TEST_CASE("link fit: unknown ranks leave times and tail, but no bus bandwidth and no hop") {
  const LinkFit fit = fit_link(all_reduce(0, {{8, 30}, {1'000'000, 130}, {100'000'000, 10'030}}));
  CHECK(fit.fit);
  CHECK_FALSE(fit.hop);
  CHECK_FALSE(fit.curve[0].bus_bytes_per_second);
}

TEST_CASE("cases: floor, tail and the bad alpha-beta fit of 8 A100") {
  const auto file = test::cases() / "nccl-tests/allreduce_8xA100.log";
  if (!std::filesystem::exists(file)) return skip("the shared cases are not at hand");
  const LinkFit fit = fit_link(read_nccl_log(file));
  CHECK(std::abs(*fit.floor_seconds - 34.9e-6) < 0.05 * 34.9e-6);
  CHECK(*fit.tail_bytes_per_second == doctest::Approx(135.0e9).epsilon(0.03));
  REQUIRE(fit.fit);
  CHECK(std::abs(fit.fit->latency_seconds - 37.6e-6) < 0.05e-6);
  CHECK(std::abs(fit.fit->bytes_per_second - 120.2e9) < 0.05e9);
  CHECK(std::abs(fit.fit->worst_error - 0.41) < 0.005);
  CHECK(fit.fit->worst_bytes == 2 << 20);
  CHECK(fit.fit->worst_error > kGoodFit);
  CHECK(std::abs(fit.curve.back().algorithm_bytes_per_second - 134.44e9) < 0.005e9);
  CHECK(std::abs(*fit.curve.back().bus_bytes_per_second - 235.26e9) < 0.005e9);
}

TEST_CASE("cases: floors, tails and last bus bandwidths of 2, 3, 4 and 8 ranks") {
  const auto folder = test::cases() / "nccl-tests";
  if (!std::filesystem::exists(folder)) return skip("the shared cases are not at hand");
  struct Right {
    int ranks;
    double floor_us, bus, tail;
  };
  for (const Right& right : {Right{2, 9.1, 199.47, 207.3}, Right{3, 10.6, 215.66, 166.6},
                             Right{4, 12.8, 220.87, 150.5}, Right{8, 23.3, 226.58, 131.6}}) {
    CAPTURE(right.ranks);
    const NcclLog log =
        read_nccl_log(folder / ("allreduce_scaling_n" + std::to_string(right.ranks) + ".txt"));
    CHECK(log.ranks == static_cast<std::uint32_t>(right.ranks));
    CHECK(log.collective == NcclCollective::AllReduce);
    CHECK(log.rows.size() == 23);
    CHECK(log.warnings.empty());
    const LinkFit fit = fit_link(log);
    CHECK(*fit.floor_seconds * 1e6 == doctest::Approx(right.floor_us).epsilon(0.05));
    CHECK(*fit.tail_bytes_per_second / 1e9 == doctest::Approx(right.tail).epsilon(0.03));
    CHECK(*log.rows.back().printed_bus_gb_per_s == right.bus);
    // Half a unit of the last digit printed, of the bandwidth and of the time (0.1 us).
    const double rounding = 0.005 + right.bus * 0.05 / log.rows.back().time_us;
    CHECK(std::abs(*fit.curve.back().bus_bytes_per_second / 1e9 - right.bus) < rounding);
  }
}

}  // namespace
}  // namespace cohort
