// Who computed, waited, synchronised with whom, and when: a run as a Chrome/Perfetto trace
// (chrome://tracing, ui.perfetto.dev).
//
// Format: {"displayTimeUnit": "ms", "traceEvents": [...]}; one complete event ("ph": "X", ts and
// dur in us with three decimals) per interval, pid = node, tid = worker, name = compute | wait |
// sync | coordinate; a sync carries args {"sync": id, "members": [...]}.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include "policies/topology.h"
#include "sim/statistics.h"

namespace cohort {

class PackedMember;  // policies/packed_member.h

class Timeline {
 public:
  void interval(std::uint32_t worker, Spent how, Time begin, Time end);
  void synchronised(std::uint32_t worker, SyncId sync, std::span<const PackedMember> members,
                    Time begin, Time end);
  // A sync of `worker` in the background or as the passive side, on a track of its own.
  void background(std::uint32_t worker, SyncId sync, std::span<const PackedMember> members,
                  Time begin, Time end);

  void write(std::ostream& out, const Topology& topology) const;

 private:
  struct Interval {
    Time begin{}, end{};
    std::uint64_t sync = 0;
    std::uint32_t worker = 0;
    std::uint32_t first_member = 0, member_count = 0;
    Spent how = Spent::Compute;
    bool background = false;
  };
  void add(std::uint32_t worker, SyncId sync, std::span<const PackedMember> members, Time begin,
           Time end, bool background);

  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> members_;  // of all syncs, one stretch after another
};

}  // namespace cohort
