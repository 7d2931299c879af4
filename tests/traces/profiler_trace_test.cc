#include "traces/profiler_trace.h"

#include <doctest/doctest.h>

#include <string>

#include "policies/errors.h"
#include "tests/skip.h"
#include "tests/traces/files.h"
#include "traces/profiler_ranks.h"

namespace cohort {
namespace {

ProfilerTrace sample(std::string_view name) {
  return read_profiler_trace(read_text_file(test::sample(name)));
}

// One rank whose steps have these fields.
std::string trace_of(const std::string& events, const std::string& rank = "0") {
  return R"({"distributedInfo": {"rank": )" + rank + R"(}, "traceEvents": [)" + events + "]}\n";
}
std::string step(const std::string& number, const std::string& duration = "5") {
  return R"({"ph": "X", "name": "ProfilerStep#)" + number + R"(", "ts": 1, "dur": )" + duration +
         "}";
}

ProfilerTrace profiler_trace_of(std::string text) {
  return read_profiler_trace({"trace", std::move(text)});
}

TEST_CASE("profiler trace: steps of the host in order of their numbers, and the rank") {
  const ProfilerTrace trace = sample("profiler_rank0.json");
  CHECK(trace.rank == 0);
  REQUIRE(trace.steps.size() == 3);
  CHECK(trace.steps[0].number == 3);
  CHECK(trace.steps[0].time == Time{5'000'000});  // not the 4700 us of the GPU's track
  CHECK(trace.steps[1].time == Time{5'200'000});
  CHECK(trace.steps[2].number == 5);
}

TEST_CASE("profiler trace: fractions of us are exact, rounded up to ns; the rank may come last") {
  const ProfilerTrace trace = sample("profiler_rank2.json");
  CHECK(trace.rank == 2);
  CHECK(trace.steps[0].time == Time{6'200'250});
  CHECK(trace.steps[1].time == Time{6'100'501});
  CHECK(trace.steps[2].time == Time{6'000'000});
}

TEST_CASE("profiler trace: without distributedInfo the rank is not known") {
  const ProfilerTrace trace = profiler_trace_of(R"({"traceEvents": [)" + step("1") + "]}");
  CHECK_FALSE(trace.rank);
  CHECK(recording_of({trace}).trace.workers() == 1);
}

TEST_CASE("profiler trace: what was cut off, damaged, doubled or is not there is refused") {
  const std::string whole = trace_of(step("1") + ",\n" + step("2"));
  struct Case {
    std::string text;
    const char* says;
  };
  for (const Case& c :
       {Case{whole.substr(0, whole.size() - 2), "trace:2: the file ends within its JSON"},
        Case{whole.substr(0, whole.size() - 8), "trace:2: the file ends within its JSON"},
        Case{whole.substr(0, 30), "trace:1: the file ends within its JSON"},
        Case{whole + "}", "trace:3: is no JSON behind"},
        Case{trace_of(step("1", "nan")), "trace:1: is no JSON behind"},
        Case{trace_of(""), "trace: has no steps"},
        Case{trace_of(step("1") + "," + step("1")), "trace: has step 1 twice"},
        Case{trace_of(step("x")), "/traceEvents/0/name: found \"ProfilerStep#x\""},
        Case{trace_of(step("0") + "," + step("1", "-5")), "/traceEvents/1/dur: found -5; expected"},
        Case{trace_of(step("1", "1e30")), "/traceEvents/0/dur: found 1e30"},
        Case{trace_of(step("1", "null")), "/traceEvents/0/dur: found null"},
        Case{trace_of(step("1", "[5]")), "/traceEvents/0/dur: found none"},
        Case{trace_of(step("1", "\"5\"")), "/traceEvents/0/dur: found \"5\""},
        Case{trace_of(step("1"), "-1"), "/distributedInfo/rank: found -1"},
        Case{trace_of(step("1"), "0.5"), "/distributedInfo/rank: found 0.5"}}) {
    CAPTURE(c.text);
    CHECK_THROWS_WITH_AS((void)profiler_trace_of(c.text), doctest::Contains(c.says), InputError);
  }
}

TEST_CASE("profiler trace: ranks become workers, with the steps that all of them have") {
  const Recording recording =
      recording_of({sample("profiler_rank2.json"), sample("profiler_rank0.json")});
  CHECK(recording.trace.workers() == 2);
  REQUIRE(recording.trace.steps() == 2);
  CHECK(recording.trace.at(0, 0) == Time{5'200'000});
  CHECK(recording.trace.at(1, 1) == Time{6'100'501});
  REQUIRE(recording.notes.size() == 4);
  CHECK(recording.notes[0] == "steps: 2 numbers from 4 to 5, renumbered 0 to 1");
  CHECK(recording.notes[1] == "ranks: 2 numbers from 0 to 2 with gaps, renumbered 0 to 1");
  CHECK(recording.notes[2] == "2 steps that not all 2 ranks have were left out");
}

TEST_CASE("profiler trace: two files of one rank, one of none and no common step are refused") {
  const ProfilerTrace zero = sample("profiler_rank0.json");
  CHECK_THROWS_WITH_AS((void)recording_of({zero, zero}),
                       doctest::Contains("is of rank 0, and so is"), InputError);
  CHECK_THROWS_WITH_AS(
      (void)recording_of({zero, profiler_trace_of(R"({"traceEvents": [)" + step("3") + "]}")}),
      doctest::Contains("trace: has no distributedInfo"), InputError);
  CHECK_THROWS_WITH_AS((void)recording_of({zero, profiler_trace_of(trace_of(step("9"), "1"))}),
                       doctest::Contains("no step in common"), InputError);
  CHECK_THROWS_AS((void)recording_of({}), ContractError);
}

TEST_CASE("recording: several files are profiler traces, one per rank") {
  const auto zero = test::sample("profiler_rank0.json");
  const auto two = test::sample("profiler_rank2.json");
  CHECK(read_recording(zero).trace.steps() == 3);
  CHECK(read_recording(std::vector{zero, two}).trace.workers() == 2);
  const auto table = test::sample("slow_stage_3dp_x_2pp.csv");
  CHECK_THROWS_WITH_AS((void)read_recording(std::vector{zero, table}),
                       doctest::Contains("slow_stage_3dp_x_2pp.csv: is no profiler trace"),
                       InputError);
}

TEST_CASE("cases: the profiler trace of rank 1 has steps 1009 and 1010") {
  const auto file = test::cases() / "training-logs/kineto_two_steps_rank1.json";
  if (!std::filesystem::exists(file)) return skip("the shared cases are not at hand");
  const ProfilerTrace trace = read_profiler_trace(read_text_file(file));
  CHECK(trace.rank == 1);
  REQUIRE(trace.steps.size() == 2);
  CHECK(trace.steps[0].number == 1009);
  CHECK(trace.steps[0].time == Time{100'298'000});
  CHECK(trace.steps[1].number == 1010);
  CHECK(trace.steps[1].time == Time{122'149'000});
}

}  // namespace
}  // namespace cohort
