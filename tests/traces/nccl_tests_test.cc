#include "traces/nccl_tests.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "policies/errors.h"
#include "tests/skip.h"
#include "tests/traces/files.h"

namespace cohort {
namespace {

NcclLog nccl_log_of(std::string_view text) {
  const test::WrittenFile file(text);
  return read_nccl_log(file.path());
}

TEST_CASE("nccl-tests log: ranks, hosts, rows and an unnamed all-reduce") {
  const NcclLog log = read_nccl_log(test::sample("all_reduce_4_ranks.txt"));
  CHECK(log.ranks == 4);
  CHECK(log.hosts == std::vector<std::string>{"alpha"});
  CHECK(log.rows.size() == 15);
  CHECK(log.rows.front().bytes == 8);
  CHECK(log.rows.back().bytes == 2147483648);
  CHECK(log.collective == NcclCollective::AllReduce);
  CHECK_FALSE(log.collective_named);
  CHECK(log.failures.empty());
  CHECK(log.warnings.empty());
}

TEST_CASE("nccl-tests log: several hosts, and the program's name where it stands") {
  const NcclLog log = read_nccl_log(test::sample("all_reduce_2_nodes.txt"));
  CHECK(log.hosts == std::vector<std::string>{"alpha", "beta"});
  CHECK(log.collective_named);
  CHECK(log.collective == NcclCollective::AllReduce);
}

TEST_CASE("nccl-tests log: the older form without root and with an error column") {
  const NcclLog log = read_nccl_log(test::sample("reduce_scatter_old.txt"));
  CHECK(log.collective == NcclCollective::ReduceScatter);
  CHECK(log.rows.size() == 15);
  CHECK(log.failures.empty());
}

TEST_CASE("nccl-tests log: a rooted collective without reduction is a broadcast") {
  CHECK(read_nccl_log(test::sample("broadcast.txt")).collective == NcclCollective::Broadcast);
}

TEST_CASE("nccl-tests log: prefixes of patched builds and of mpirun do not hide rows") {
  const std::string text = test::text_of(test::sample("all_reduce_4_ranks.txt"));
  const NcclLog plain = nccl_log_of(text);
  for (const char* prefix : {"[STAT]:", "[STAT]: ", "[1,0]<stdout>:", "[1,0]<stdout>: "}) {
    CAPTURE(prefix);
    std::string marked;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      const std::string line = text.substr(at, end - at);
      marked += (line.starts_with('#') ? "" : prefix + line.substr(line.find_first_not_of(' ')));
      if (line.starts_with('#')) marked += line;
      at = end;
    }
    const NcclLog log = nccl_log_of(marked);
    REQUIRE(log.rows.size() == plain.rows.size());
    CHECK(log.rows.back().time_us == plain.rows.back().time_us);
    CHECK(log.rows.front().bytes == 8);
  }
}

TEST_CASE("nccl-tests log: other output inside the table is passed over") {
  const std::string text = test::text_of(test::sample("all_reduce_4_ranks.txt"));
  const std::string noisy =
      test::replaced(text, "        2048 ",
                     "alpha:77:77 [0] NCCL INFO Channel 00/24 :    0   1   2   3\n        2048 ");
  CHECK(nccl_log_of(noisy).rows.size() == 15);
  CHECK(nccl_log_of(noisy).warnings.empty());
}

TEST_CASE("nccl-tests log: a row broken by other output is left out with a warning") {
  const std::string text = test::text_of(test::sample("all_reduce_4_ranks.txt"));
  const std::string broken = test::replaced(
      text, "        2048           512     float     sum      -1",
      "        2048           512     float     sum      -1alpha:7:7 [0] NCCL INFO hello\n");
  const NcclLog log = nccl_log_of(broken);
  CHECK(log.rows.size() == 14);
  CHECK(test::mentions(log.warnings, "a damaged row, left out"));
}

TEST_CASE("nccl-tests log: wrong elements, values out of bounds and test failures fail the run") {
  const std::string text = test::text_of(test::sample("all_reduce_4_ranks.txt"));
  CHECK(nccl_log_of(test::replaced(text, "      0  ", "      3  ")).failures.size() == 1);
  CHECK(nccl_log_of(test::replaced(text, "values : 0 OK", "values : 3 FAILED")).failures.size() ==
        1);
  CHECK(nccl_log_of(text + "alpha: Test NCCL failure common.cu:958 'unhandled system error'\n")
            .failures.size() == 1);
  CHECK_FALSE(
      nccl_log_of("alpha: Test CUDA failure common.cu:1030 'no device'\n").failures.empty());
}

TEST_CASE("nccl-tests log: a log that was cut off says so and keeps its whole rows") {
  const std::string text = test::text_of(test::sample("all_reduce_4_ranks.txt"));
  const std::size_t at = text.find("      131072");
  REQUIRE(at != std::string::npos);
  const NcclLog log = nccl_log_of(text.substr(0, at + 40));
  CHECK(log.rows.size() == 7);
  CHECK(test::mentions(log.warnings, "cut off"));
  CHECK(test::mentions(log.warnings, "damaged"));
}

TEST_CASE(
    "nccl-tests log: printed bandwidths that contradict size and time are noticed, not used") {
  const std::string text = test::text_of(test::sample("broadcast.txt"));
  std::string other = text;
  for (std::size_t at = 0; (at = other.find("float    none       0", at)) != std::string::npos;
       ++at) {
    other.replace(at, 21, "float     sum      -1");
  }
  // The columns now say all-reduce (factor 1.5), the printed bandwidths say 1: none fits, so
  // unknown.
  CHECK(nccl_log_of(other).collective == NcclCollective::Unknown);
  const NcclLog named = nccl_log_of("all_reduce_perf -g 4\n" + other);
  CHECK(test::mentions(named.warnings, "2 % off"));
  CHECK(named.collective == NcclCollective::AllReduce);
}

TEST_CASE("nccl-tests log: missing ranks leave the number of ranks unknown") {
  const std::string text = test::text_of(test::sample("all_reduce_4_ranks.txt"));
  const std::size_t from = text.find("#  Rank  1");
  std::string gap = text;
  gap.erase(from, text.find('\n', from) + 1 - from);
  CHECK(nccl_log_of(gap).ranks == 0);
  CHECK(test::mentions(nccl_log_of(gap).warnings, "the last is rank 3"));
}

TEST_CASE("nccl-tests log: two ranks on one GPU are noticed") {
  const NcclLog log =
      nccl_log_of(test::replaced(test::text_of(test::sample("all_reduce_4_ranks.txt")),
                                 "device  1 [0x20]", "device  0 [0x10]"));
  CHECK(test::mentions(log.warnings, "ranks 0 and 1 show the same GPU"));
}

TEST_CASE("nccl-tests log: two runs in a file, other files, empty and missing ones are refused") {
  const std::string text = test::text_of(test::sample("all_reduce_4_ranks.txt"));
  CHECK_THROWS_WITH_AS((void)nccl_log_of(text + text), doctest::Contains("second run"), InputError);
  CHECK_THROWS_WITH_AS((void)nccl_log_of("hello\n"), doctest::Contains("no nccl-tests log"),
                       InputError);
  CHECK_THROWS_AS((void)nccl_log_of(""), InputError);
  CHECK_THROWS_AS((void)read_nccl_log("/nonexistent.log"), InputError);
  CHECK_THROWS_AS((void)read_nccl_log(std::filesystem::temp_directory_path()), InputError);
}

TEST_CASE("nccl-tests: bus factors of the collectives") {
  CHECK(*bus_factor(NcclCollective::AllReduce, 3) == doctest::Approx(4.0 / 3).epsilon(1e-12));
  CHECK(*bus_factor(NcclCollective::AllGather, 4) == 0.75);
  CHECK(*bus_factor(NcclCollective::AllToAll, 8) == 0.875);
  CHECK(*bus_factor(NcclCollective::SendReceive, 2) == 1);
  CHECK_FALSE(bus_factor(NcclCollective::Unknown, 8));
}

TEST_CASE("cases: the log of 8 A100 has 34 rows of which 2 have size 0") {
  const auto file = test::cases() / "nccl-tests/allreduce_8xA100.log";
  if (!std::filesystem::exists(file)) return skip("the shared cases are not at hand");
  const NcclLog log = read_nccl_log(file);
  CHECK(log.ranks == 8);
  CHECK(log.hosts.size() == 1);
  CHECK(log.rows.size() == 34);
  CHECK(log.rows[1].bytes == 0);
  CHECK(log.rows[2].bytes == 4);
  CHECK(log.collective == NcclCollective::AllReduce);
  CHECK(log.warnings.empty());
  CHECK(*log.rows.back().printed_algorithm_gb_per_s == 134.44);
  CHECK(*log.rows.back().printed_bus_gb_per_s == 235.26);
}

}  // namespace
}  // namespace cohort
