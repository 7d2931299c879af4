// Random overlapping groups with random delays, in one order of starts that all ranks know, as the
// group generator's: what hangs several communicators on one GPU when the order is not kept.
#pragma once

#include "tests/runtime/nccl/ranks.h"

namespace cohort {

// At every rank, two of them at least. Throws when a mean is wrong; stalls when a group does.
void run_overlapping_groups(const Rank& rank, std::uint64_t turns);

}  // namespace cohort
