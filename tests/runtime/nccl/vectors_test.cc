#include <doctest/doctest.h>

#include <array>

#include "runtime/nccl_module.h"
#include "tests/runtime/nccl/ranks.h"

namespace cohort {
namespace {

using Values = std::array<float, 4>;

Values read(VectorUnit& unit, const Buffer& buffer) {
  Values values{};
  unit.read(buffer.entries(), values);
  return values;
}

}  // namespace

TEST_CASE("nccl vectors: new entries are zero, also where others were freed") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  auto& unit = backend->vectors();
  for (int again = 0; again < 2; ++again) {
    const Buffer buffer(unit, 4);
    CHECK(read(unit, buffer) == Values{});
    unit.write(Values{1, 2, 3, 4}, buffer.entries());
  }
}

TEST_CASE("nccl vectors: copies, scales and adds in the order asked for") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  auto& unit = backend->vectors();
  const Buffer a(unit, 4);
  const Buffer b(unit, 4);
  unit.write(Values{1, 2, 3, 4}, a.entries());
  unit.copy(a.entries(), b.entries(), 4);
  unit.scale(10, a.entries(), 4);
  unit.add(-2, b.entries(), a.entries(), 4);
  CHECK(read(unit, a) == Values{8, 16, 24, 32});
  CHECK(read(unit, b) == Values{1, 2, 3, 4});
}

TEST_CASE("nccl vectors: a fence is over when what was queued before it is") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  auto& unit = backend->vectors();
  const Buffer a(unit, 1 << 20);
  for (int i = 0; i < 20; ++i) unit.scale(0.5, a.entries(), a.count());
  const auto fence = unit.fence();
  CHECK_NOTHROW(finish(*fence));
}

TEST_CASE("nccl vectors: an empty buffer is a buffer") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  CHECK_NOTHROW(Buffer(backend->vectors(), 0));
}

TEST_CASE("nccl vectors: without room the error names call, rank, GPU and the library's words") {
  const auto complaints =
      run_ranks(2, [](const Rank& rank) { const Buffer buffer(rank.vectors(), 4); },
                {{"COHORT_STAND_IN_FAIL", "1:cudaMallocAsync:1:error"}});
  CHECK(complaints.starts_with(
      "rank 1: cudaMallocAsync failed on rank 1, GPU 0000:01:00.0 (device_vectors.cc:"));
  CHECK(complaints.ends_with("): out of memory (code 2)\n"));
}

}  // namespace cohort
