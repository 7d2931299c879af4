// `random`: an ablation of `smart`. A request with an empty FIFO makes one random group with the
// caller.
//
// The other members may have full FIFOs, so groups overlap and serialise in creation order; a
// request with a non-empty FIFO creates nothing. Workers that left or were lost are never drafted;
// with fewer workers than `group_size` left, or in the whole run when it is at its default of 4,
// the group is all of them.
#pragma once

#include "policies/registry.h"

namespace cohort {

[[nodiscard]] PolicyEntry random_entry();

// From the resolved options `group_size` and `vocabulary`.
[[nodiscard]] std::unique_ptr<Policy> make_random_policy(const Options& options,
                                                         const Topology& topology,
                                                         std::uint64_t seed);

// `group_size` of `random` and `smart`, and its check: a size above both the number of workers and
// the default is refused.
[[nodiscard]] OptionSpec group_size_option();
void check_group_size(const Options& options, const Topology& topology);

}  // namespace cohort
