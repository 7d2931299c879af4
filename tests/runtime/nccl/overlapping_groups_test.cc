#include "tests/runtime/nccl/overlapping_groups.h"

#include <doctest/doctest.h>

namespace cohort {

TEST_CASE("nccl transport: 1,000 random overlapping groups with random delays never stall") {
  CHECK(run_ranks(4, [](const Rank& rank) { run_overlapping_groups(rank, 1000); }) == "");
}

}  // namespace cohort
