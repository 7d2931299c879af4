// Policies that are wrong on purpose, each in one way: what the exhaustive search must find.
#pragma once

#include <memory>

#include "policies/policy.h"

namespace cohort {

// Three workers; each locks its groups in an order of its own: worker w waits first for its pair
// with w + 1, then for its pair with w - 1. A group starts when it is the next one of both its
// members. All wait in a circle: deadlock.
[[nodiscard]] std::unique_ptr<Policy> pairs_in_own_order();

// Pairs the worker that has just become ready with any other that waits, but forgets that the other
// may be in a pair already: conflict.
[[nodiscard]] std::unique_ptr<Policy> pairs_without_locks(std::uint32_t workers);

// Pairs workers first come, first served, and forgets to let the one go that is left without a
// partner: starvation.
[[nodiscard]] std::unique_ptr<Policy> pairs_for_ever(std::uint32_t workers);

}  // namespace cohort
