// `--verify`: compares the mean that each member got with the exact mean of what they gave.
//
// Exact: the weighted sum, in double, of the members' samples from before. Errors are relative to
// the largest magnitude that a member gave for the entry; for the signed sum over all N entries, to
// what it would be if all entries were as large as the largest sampled one: sqrt(N) times that, or
// the largest sum if that is more. In single precision a correct mean of g members is off by about
// g * 6e-8.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/messages.h"

namespace cohort {

inline constexpr double kMeanTolerance = 1e-5;

struct MeanError {
  double largest = 0;
  std::size_t member = 0;  // whose it is: a place in the list of members
};

// Whether a member in this role has to report samples, before and after; it keeps a mean.
[[nodiscard]] bool is_verified(SyncKind kind, Role role);

// `samples[i]`: of members[i]; two of equal length where is_verified(), else unused.
[[nodiscard]] MeanError mean_error(SyncKind kind, std::span<const Member> members,
                                   std::span<const std::vector<message::Sample>> samples,
                                   std::uint64_t entries);

}  // namespace cohort
