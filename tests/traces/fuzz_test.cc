// Damaged files: every reader gives a valid result or an InputError, never anything else.
#include <doctest/doctest.h>

#include <string>

#include "policies/errors.h"
#include "policies/random.h"
#include "tests/damaged.h"
#include "tests/traces/files.h"
#include "traces/file_kind.h"
#include "traces/hostfile.h"
#include "traces/link_fit.h"
#include "traces/nccl_tests.h"
#include "traces/profiler_ranks.h"
#include "traces/recording.h"
#include "traces/topology_matrix.h"
#include "traces/trace_fit.h"
#include "traces/training_log.h"
#include "traces/units.h"

namespace cohort {
namespace {

constexpr std::uint32_t kTries = 1500;

// How many of the damaged texts were accepted; anything but an InputError gets out and fails the
// test.
template <typename Read>
std::uint32_t accepted(const std::string& whole, Read read) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    Stream random(17, Purpose::Failure, i, 0);
    const test::WrittenFile file(test::damaged(whole, random));
    try {
      read(file.path());
      ++count;
    } catch (const InputError&) {
    }
  }
  return count;
}

TEST_CASE("damaged nccl-tests logs are read in part or refused") {
  for (const char* name : {"all_reduce_4_ranks.txt", "reduce_scatter_old.txt"}) {
    const std::string whole = test::text_of(test::sample(name));
    REQUIRE_FALSE(whole.empty());
    const std::uint32_t count = accepted(whole, [](const std::filesystem::path& path) {
      const NcclLog log = read_nccl_log(path);
      for (const CurvePoint& point : fit_link(log).curve) CHECK(point.seconds > 0);
    });
    CHECK(count > 0);
    CHECK(count < kTries);
  }
}

TEST_CASE("damaged recordings are refused or stay whole tables") {
  const std::string whole = test::text_of(test::sample("slow_stage_3dp_x_2pp.csv"));
  REQUIRE_FALSE(whole.empty());
  const std::uint32_t count = accepted(whole, [](const std::filesystem::path& path) {
    const Recording recording = read_recording(path);
    const auto workers = summarise(recording.trace);
    CHECK(workers.size() == recording.trace.workers());
    (void)slow_stages(workers, recording.stages);
    (void)fit_trace(recording.trace);
  });
  CHECK(count > 0);
  CHECK(count < kTries);
}

TEST_CASE("damaged training logs are read in part or refused") {
  const std::string whole = test::text_of(test::sample("training_4_workers.log"));
  const std::uint32_t count = accepted(whole, [](const std::filesystem::path& path) {
    const TrainingLog log = read_training_log(read_text_file(path));
    CHECK(from_seconds_up(median_batch_seconds(log)) > Time{0});
    CHECK(batches_per_epoch(log) >= 0);
    (void)batch_seconds_behind_first(log);
  });
  CHECK(count > 0);
  CHECK(count < kTries);
}

TEST_CASE("damaged profiler traces are refused or keep their steps") {
  for (const char* name : {"profiler_rank0.json", "profiler_rank2.json"}) {
    const std::uint32_t count =
        accepted(test::text_of(test::sample(name)), [](const std::filesystem::path& path) {
          const ProfilerTrace trace = read_profiler_trace(read_text_file(path));
          CHECK(recording_of({trace}).trace.steps() == trace.steps.size());
        });
    CHECK(count > 0);
    CHECK(count < kTries);
  }
}

TEST_CASE("damaged topologies are refused or stay symmetric") {
  const std::string whole = test::text_of(test::sample("topology_2_gpus_2_nics.txt"));
  const std::uint32_t count = accepted(whole, [](const std::filesystem::path& path) {
    const TopologyMatrix matrix = read_topology_matrix(read_text_file(path));
    for (std::size_t a = 0; a < matrix.devices.size(); ++a) {
      for (std::size_t b = 0; b < matrix.devices.size(); ++b) {
        CHECK(matrix.paths[a][b] == matrix.paths[b][a]);
      }
    }
    CHECK(gpu_paths(matrix).size() <= 1);
  });
  CHECK(count > 0);
  CHECK(count < kTries);
}

TEST_CASE("damaged hostfiles are refused or keep a host") {
  const std::string whole = test::text_of(test::sample("hostfile_4_hosts.txt"));
  const std::uint32_t count = accepted(whole, [](const std::filesystem::path& path) {
    const Hostfile hosts = read_hostfile(read_text_file(path));
    CHECK_FALSE(hosts.hosts.empty());
  });
  CHECK(count > 0);
  CHECK(count < kTries);
}

TEST_CASE("damaged files of every kind are of a kind or refused") {
  for (const auto& entry : std::filesystem::directory_iterator(test::sample(""))) {
    const std::uint32_t count =
        accepted(test::text_of(entry.path()),
                 [](const std::filesystem::path& path) { (void)kind_of(read_text_file(path)); });
    CHECK(count > 0);
  }
}

TEST_CASE("damaged quantities are refused or stay quantities") {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    Stream random(23, Purpose::Failure, i, 0);
    const std::string text = test::damaged(i % 2 == 0 ? "12.5e-3 ms" : "56Gbit/s", random);
    try {
      if (i % 2 == 0) {
        const Time time = parse_time(text);
        CHECK(time >= Time{0});
      } else {
        const double bandwidth = parse_bandwidth(text);
        CHECK(bandwidth > 0);
      }
      ++count;
    } catch (const InputError&) {
    }
  }
  CHECK(count > 0);
}

}  // namespace
}  // namespace cohort
