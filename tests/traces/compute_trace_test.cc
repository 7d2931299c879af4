#include "traces/compute_trace.h"

#include <doctest/doctest.h>

#include <string>

#include "policies/errors.h"
#include "tests/traces/files.h"

namespace cohort {
namespace {

ComputeTrace read(std::string_view text) {
  const test::WrittenFile file(text);
  return read_compute_trace(file.path());
}

// The complaint without the file's name: ":LINE: ..."; empty when it was read.
std::string complaint(std::string_view text) {
  const test::WrittenFile file(text);
  try {
    (void)read_compute_trace(file.path());
  } catch (const InputError& error) {
    const std::string what = error.what();
    REQUIRE(what.starts_with(file.path().string()));
    return what.substr(file.path().string().size());
  }
  return "";
}

TEST_CASE("compute trace: rows in any order, further columns and CRLF are read") {
  const ComputeTrace trace = read(
      "worker,step,seconds,stretched_seconds\r\n1,1,0.4,9\r\n0,0,0.1,9\r\n1,0,0.3,9\r\n0,1,2e-1,"
      "9\r\n");
  CHECK(trace.workers() == 2);
  CHECK(trace.steps() == 2);
  CHECK(trace.at(0, 0) == Time{100'000'000});
  CHECK(trace.at(0, 1) == Time{200'000'000});
  CHECK(trace.at(1, 1) == Time{400'000'000});
  CHECK(trace.median() == Time{250'000'000});
}

TEST_CASE("compute trace: what is written reads back the same") {
  const ComputeTrace trace(2, 3,
                           {Time{1}, Time{1'234'567'890'123}, Time{0}, Time{7}, Time{8}, Time{9}});
  const ComputeTrace again = read(to_csv(trace));
  for (std::uint32_t worker = 0; worker < 2; ++worker) {
    for (std::uint64_t step = 0; step < 3; ++step)
      CHECK(again.at(worker, step) == trace.at(worker, step));
  }
}

TEST_CASE("compute trace: bad rows are refused with their line") {
  const std::string head = "worker,step,seconds\n";
  struct Case {
    const char* rows;
    const char* begins;
    const char* says;
  };
  for (const Case& c :
       {Case{"0,0,1\n0,2,1\n", ":3:", "worker 0 step 1 is missing"},
        Case{"0,0,1\n2,0,1\n", ":3:", "worker 1 step 0 is missing"},
        Case{"1,0,1\n", ":2:", "worker 0 step 0 is missing"},
        Case{"0,0,1\n0,1,1\n1,0,1\n", ":4:", "worker 1 ends with step 0"},
        Case{"0,0,1\n1,0,1\n1,1,1\n", ":4:", "worker 2 step 0 is missing"},
        Case{"0,0,1\n0,1,1\n0,0,1\n", ":4:", "stands on line 2 already"},
        Case{"0,0,1\n1000000000,0,1\n", ":3:", "found worker 1000000000"},
        Case{"0,0,1\n18446744073709551615,18446744073709551615,1\n", ":3:", "missing"},
        Case{"0,0,1\n99999999999999999999,0,1\n", ":3:", "whole number from 0"},
        Case{"0,0,-1\n", ":2:", "0 or more"},
        Case{"0,0,nan\n", ":2:", "\"nan\""},
        Case{"0,0,inf\n", ":2:", "\"inf\""},
        Case{"0,0,1e300\n", ":2:", "below"},
        Case{"0,0,fast\n", ":2:", "\"fast\""},
        Case{"0,0,0.1s\n", ":2:", "\"0.1s\""},
        Case{"0,0,1\n0,1,0.", ":3:", "\"0.\""},
        Case{"0,0,1\n0,1,2.e-3\n", ":3:", "\"2.e-3\""},
        Case{"0,0,.5\n", ":2:", "\".5\""},
        Case{"-1,0,1\n", ":2:", "whole number from 0"},
        Case{"0.5,0,1\n", ":2:", "whole number from 0"},
        Case{"0,0,1\n0,1\n", ":3:", "2 fields; expected 3"},
        Case{"0,0,1\n0,1,", ":3:", "\"\""},
        Case{"0,0,1\n\n0,1,1\n", ":3:", "0 fields"},
        Case{"0,0,1,7\n", ":2:", "4 fields; expected 3"},
        Case{"", ": ", "no rows"}}) {
    CAPTURE(c.rows);
    const std::string said = complaint(head + c.rows);
    CAPTURE(said);
    CHECK(said.starts_with(c.begins));
    CHECK(said.find(c.says) != std::string::npos);
  }
}

TEST_CASE("compute trace: the last row may lack its line end") {
  CHECK(read("worker,step,seconds\n0,0,1\n0,1,0.5").at(0, 1) == Time{500'000'000});
}

TEST_CASE("compute trace: a wrong header is refused on line 1") {
  for (const char* text : {"worker,step,time\n0,0,1\n", "step,worker,seconds\n0,0,1\n", "0,0,1\n",
                           "worker;step;seconds\n", "worker,step\n", "\n"}) {
    CAPTURE(text);
    const std::string said = complaint(text);
    CHECK(said.starts_with(":1:"));
    CHECK(said.find("worker,step,seconds") != std::string::npos);
  }
}

TEST_CASE("compute trace: a missing file, a directory and an empty file are refused") {
  CHECK_THROWS_AS((void)read_compute_trace("/nonexistent/steps.csv"), InputError);
  CHECK_THROWS_AS((void)read_compute_trace(std::filesystem::temp_directory_path()), InputError);
  CHECK(complaint("").find("empty") != std::string::npos);
}

TEST_CASE("compute trace: a table of the wrong size breaks the contract") {
  CHECK_THROWS_AS(ComputeTrace(2, 2, {Time{1}}), ContractError);
  CHECK_THROWS_AS(ComputeTrace(0, 0, {}), ContractError);
  CHECK_THROWS_AS(ComputeTrace(1, 1, {Time{-1}}), ContractError);
}

}  // namespace
}  // namespace cohort
