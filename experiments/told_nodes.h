// Which nodes the policies of a real run are told of: those of the hosts, or those of the spec; and
// what a user must be warned of about the machines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/rank_layout.h"

namespace cohort {

struct ToldNodes {
  std::optional<std::vector<std::uint32_t>> gpus_per_node;  // of the hosts; none: the spec's
  std::string circumstances;                                // the same as text
  std::vector<std::string> warnings;                        // one line each
};

// Throws InputError when a policy's options do not fit the hosts.
[[nodiscard]] ToldNodes tell_nodes(const Experiment& experiment, const RankLayout& layout);

// Empty, or the warning that a host has more ranks than processors.
[[nodiscard]] std::string oversubscribed(std::size_t ranks_here, unsigned processors);

}  // namespace cohort
