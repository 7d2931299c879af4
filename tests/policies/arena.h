// A piece of memory that holds everything a policy allocates, so that the policy's state can be
// saved, restored and compared as bytes.
//
// While an ArenaScope lives, `operator new` of the whole program takes from the arena. Blocks keep
// their addresses, so restoring the bytes restores the policy. Equal bytes are equal states: a
// policy has no state outside its allocations. The converse does not hold (stale bytes differ),
// which costs a search time but no soundness. One thread only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cohort {

class ArenaScope {
 public:
  ArenaScope();
  ~ArenaScope();
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;
};

// The bytes in use, from the start of the arena.
[[nodiscard]] std::span<const std::byte> arena_image();

void restore_arena(std::span<const std::byte> image);

// Forgets all blocks; nothing in the arena may be used afterwards.
void clear_arena();

}  // namespace cohort
