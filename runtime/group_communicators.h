// The communicators of a run's group means: CommunicatorCache decides, this gives its lists names
// that members can keep.
//
// An id is never used twice in a run. Owned by the group generator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/communicator_cache.h"
#include "runtime/messages.h"

namespace cohort {

class GroupCommunicators {
 public:
  struct Lease {
    CommunicatorCache::List list{};
    CommunicatorId id{};
    bool create = false;  // the members do not have it yet
  };
  struct Dropped {
    CommunicatorId id{};
    std::vector<WorkerId> members;
  };

  GroupCommunicators(std::uint32_t workers, std::uint32_t capacity) : cache_(workers, capacity) {}

  // As CommunicatorCache's.
  [[nodiscard]] Lease acquire(std::span<const Member> members);
  void release(CommunicatorCache::List list);
  // What the last acquire or release dropped.
  [[nodiscard]] std::span<const Dropped> dropped() const { return dropped_; }

  [[nodiscard]] const CommunicatorCache::Counts& counts() const { return cache_.counts(); }

 private:
  void note_dropped();

  CommunicatorCache cache_;
  std::vector<Dropped> lists_;  // by list: what a drop of it would say
  std::vector<Dropped> dropped_;
  std::uint32_t next_ = 0;
};

}  // namespace cohort
