// Every registered policy with every option that changes its decisions, for the tests that hold for
// all policies.
//
// A policy that is added to the registry takes part with its defaults, and in the background if it
// has `timing`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policies/registry.h"

namespace cohort {

struct Variant {
  std::string label;
  const PolicyEntry* entry = nullptr;
  Options options;  // resolved
};

// Those whose options fit a cluster of `gpus_per_node`; labels are unique.
[[nodiscard]] std::vector<Variant> policy_variants(const std::vector<std::uint32_t>& gpus_per_node);

// The topology that `variant` needs on that cluster: with its servers.
[[nodiscard]] Topology topology_of(const Variant& variant,
                                   const std::vector<std::uint32_t>& gpus_per_node);

[[nodiscard]] std::unique_ptr<Policy> make_variant(const Variant& variant, const Topology& topology,
                                                   std::uint64_t seed);

}  // namespace cohort
