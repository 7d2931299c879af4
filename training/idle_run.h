// What a policy starts when everybody is idle: all workers are ready at once, and again whenever
// nothing else can happen.
//
// A driver without time: synchronisations end in the order of their starts, timers fire as soon as
// nothing else is due. For mixing rates; not a simulator.
#pragma once

#include <cstdint>
#include <vector>

#include "policies/policy.h"
#include "policies/topology.h"

namespace cohort {

struct IdleSync {
  SyncKind kind = SyncKind::GroupMean;
  std::uint64_t step = 0;  // neighbour mix: see Action::step
  std::vector<Member> members;
};

using IdleRound = std::vector<IdleSync>;  // what was started between two common readies, in order

// Throws ContractError when the policy starves everybody.
[[nodiscard]] std::vector<IdleRound> idle_run(Policy& policy, const Topology& topology,
                                              std::uint32_t rounds);

}  // namespace cohort
