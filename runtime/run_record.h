// What was measured in a real run: instants on the group generator's clock, since the run's start.
//
// Raw facts only. A step's time falls into
//   compute     began .. ended
//   wait        ended .. the decision of its synchronisation, less the trip of the last member's
//   ready coordinate  that trip; decision .. the transfer's beginning (communicator included);
//               the transfer's end .. the next step's beginning
//   sync        the transfer, as this member saw it
// A background or passive part counts for nobody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policies/communicator_cache.h"
#include "policies/synchronisation.h"
#include "traces/learning.h"

namespace cohort {

struct StepTiming {
  WorkerId worker{};
  std::uint64_t step = 0;
  Time work{};  // as drawn
  Time began{};
  Time ended{};                // the ready left the worker
  Time arrived{};              // ... and reached the policy
  Time resumed{};              // the next step began, or the worker was told that it was its last
  std::optional<SyncId> sync;  // the last synchronisation that it was a blocking member of
};

struct MemberTiming {
  Member member;
  Time received{};      // the start, at the member
  Time communicator{};  // spent on making it
  Time began{};         // of the transfer
  Time ended{};
};

struct SyncTiming {
  SyncId id{};
  SyncKind kind = SyncKind::GroupMean;
  bool failed = false;
  bool created = false;  // its communicator was not in the cache
  Time decided{};        // by the policy
  Time done{};           // the last member's report arrived
  std::vector<MemberTiming> members;
  std::optional<double> largest_error;  // with verify: relative, over the entries compared
};

struct RunRecord {
  std::vector<StepTiming> steps;  // in the order of their readies
  std::vector<SyncTiming> syncs;  // in the order of their starts
  Time elapsed{};                 // the last worker's end
  std::vector<Time> cpu;          // by member: processor time of its process
  CommunicatorCache::Counts communicators;
  std::optional<Learning> learning;  // of runs with training that did not fail
  std::vector<std::string> lost;     // sentences: who, when, why, in which group
  std::string failure;               // "" when the run ended as it should
};

}  // namespace cohort
