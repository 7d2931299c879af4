// Which communicators exist: a bounded LRU of member lists per worker ([SEMANTICS 3],
// `cluster.communicator`).
//
// The same code decides in the simulator and in the group generator, so that all members of a list
// agree. Lists are sets: the same members in another order are the same list. A start touches its
// list at all members; a list dropped from any member's LRU is dropped at all its members at once;
// a live one is never dropped, so a worker whose lists are all live may for that long hold more
// than `capacity`. A start costs time proportional to its members; a hit allocates nothing. The
// driver asks for group means only: pairs, mixes and servers use the set-up made at the start of
// the run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

class CommunicatorCache {
 public:
  enum class List : std::uint32_t {};

  struct Lease {
    List list{};
    bool hit = false;  // false: the members pay `setup`
  };

  struct Counts {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;  // lists, not places in LRUs
  };

  // `capacity`: lists per worker, at least 1. Throws ContractError on 0.
  CommunicatorCache(std::uint32_t workers, std::uint32_t capacity);

  // The list of a group that starts now, made if need be; it is live until its release. `members`:
  // at least one, each once.
  [[nodiscard]] Lease acquire(std::span<const Member> members);
  // The synchronisation for which `list` was acquired is done or failed. Throws ContractError when
  // `list` is not live.
  void release(List list);
  // What the last acquire or release dropped; none of them is in use. Their numbers are given to
  // new lists from the next acquire on.
  [[nodiscard]] std::span<const List> dropped() const { return dropped_; }

  [[nodiscard]] const Counts& counts() const { return counts_; }
  // Lists that `worker` holds now.
  [[nodiscard]] std::uint32_t held(WorkerId worker) const { return lrus_[index(worker)].size; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Lru {
    std::uint32_t newest = kNone;  // seats
    std::uint32_t oldest = kNone;
    std::uint32_t size = 0;
  };
  struct Seat {
    WorkerId worker{};
    std::uint32_t list = 0;
    std::uint32_t newer = kNone;
    std::uint32_t older = kNone;
    std::uint32_t next_in_list = kNone;  // or next free seat
  };
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t first_seat = kNone;
    std::uint32_t size = 0;
    std::uint32_t uses = 0;           // live synchronisations
    std::uint32_t next_same = kNone;  // chain of its hash cell; or next free entry
  };

  [[nodiscard]] std::uint32_t find(std::uint64_t hash, std::span<const Member> members);
  [[nodiscard]] std::uint32_t create(std::uint64_t hash, std::span<const Member> members);
  [[nodiscard]] bool same_members(const Entry& entry, std::span<const Member> members);
  void touch(std::uint32_t seat);
  void link_newest(std::uint32_t seat);
  void unlink(std::uint32_t seat);
  void trim_members(std::uint32_t list);
  void trim(WorkerId worker);
  void drop(std::uint32_t list);
  void grow_cells();

  std::uint32_t capacity_;
  std::vector<Lru> lrus_;
  std::vector<Seat> seats_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> cells_;  // first entry of each hash cell; a power of two of them
  std::vector<std::uint32_t> mark_;   // by worker: the comparison that last met it
  std::uint32_t comparison_ = 0;
  std::uint32_t free_seat_ = kNone;
  std::uint32_t free_entry_ = kNone;
  std::uint32_t lists_ = 0;
  Counts counts_;
  std::vector<List> dropped_;
};

}  // namespace cohort
