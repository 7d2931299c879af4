#include "traces/file_kind.h"

#include <doctest/doctest.h>

#include <string>

#include "policies/errors.h"
#include "tests/traces/files.h"

namespace cohort {
namespace {

FileKind kind(std::string text) { return kind_of({"file", std::move(text)}); }

TEST_CASE("file kind: told by what stands in the file") {
  const auto of = [](std::string_view name) { return kind_of(read_text_file(test::sample(name))); };
  CHECK(of("all_reduce_4_ranks.txt") == FileKind::NcclTests);
  CHECK(of("all_reduce_2_nodes.txt") == FileKind::NcclTests);
  CHECK(of("broadcast.txt") == FileKind::NcclTests);
  CHECK(of("reduce_scatter_old.txt") == FileKind::NcclTests);
  CHECK(of("training_4_workers.log") == FileKind::TrainingLog);
  CHECK(of("profiler_rank0.json") == FileKind::ProfilerTrace);
  CHECK(of("profiler_rank2.json") == FileKind::ProfilerTrace);
  CHECK(of("topology_2_gpus_2_nics.txt") == FileKind::Topology);
  CHECK(of("hostfile_4_hosts.txt") == FileKind::Hostfile);
  CHECK(of("slow_stage_3dp_x_2pp.csv") == FileKind::ComputeTrace);
}

TEST_CASE("file kind: a damaged file is still of its kind") {
  CHECK(kind("alpha: Test CUDA failure common.cu:1030 'no device'\n") == FileKind::NcclTests);
  CHECK(kind("{\"distributedInfo\": {\"rank\"") == FileKind::ProfilerTrace);
  CHECK(kind("I am worker 1 of 8.\nmpirun noticed that process rank 1 exited\n") ==
        FileKind::TrainingLog);
  CHECK(kind("node1 slots=8\nnode2 slotz=8\n") == FileKind::Hostfile);
  CHECK(kind("node1\n10.0.0.2 # a comment\n") == FileKind::Hostfile);
  CHECK(kind("  GPU0 GPU1 CPU Affinity\nGPU0 X") == FileKind::Topology);
  CHECK(kind("worker,step,seconds\n0,0,0.\n") == FileKind::ComputeTrace);
}

TEST_CASE("file kind: a file of none is refused with the list of them") {
  for (const char* text : {"", "\n", "hello\n", "1.5\n2.5\n", "{\"name\": \"a spec\"}", "a b c\n",
                           "I am worker\n", "GPU0 is hot\n", "\xff\xfe\x00"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)kind(text),
                         doctest::Contains("of no known kind; allowed: a log of "), InputError);
  }
}

}  // namespace
}  // namespace cohort
