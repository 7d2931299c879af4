// One random group with the caller: what `random` makes at a request, and `smart` without its
// division ([SEMANTICS 2]).
//
// With a vocabulary of V ([SEMANTICS 3]) the V groups are drawn once from the seed, of all workers;
// a request then picks one uniformly among those with the caller and keeps of it the members in the
// pool. A caller that no drawn group names is alone: it synchronises with nobody. Used by policies
// only; allocates nothing once warm.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policies/random.h"
#include "policies/synchronisation.h"

namespace cohort {

class GroupDraft {
 public:
  GroupDraft(std::uint32_t group_size, std::optional<std::uint32_t> vocabulary,
             std::uint32_t workers, std::uint64_t seed);

  // The caller, first, and random others of `pool` up to the group size, or all of them when there
  // are fewer. `pool` names each worker at most once, the caller too or not, and is left as it was;
  // `in_pool(worker)` says who is in it. Valid until the next draw.
  template <typename InPool>
  [[nodiscard]] std::span<const WorkerId> draw(Stream& stream, WorkerId caller,
                                               std::span<WorkerId> pool, InPool&& in_pool) {
    group_.assign(1, caller);
    if (first_word_.empty()) {
      add_random(stream, pool);
    } else {
      for (const auto member : pick_word(stream, caller))
        if (member != caller && in_pool(member)) group_.push_back(member);
    }
    return group_;
  }

 private:
  void add_random(Stream& stream, std::span<WorkerId> pool);
  [[nodiscard]] std::span<const WorkerId> pick_word(Stream& stream, WorkerId caller) const;
  void draw_vocabulary(std::uint32_t words, std::uint32_t workers, std::uint64_t seed);

  std::uint32_t group_size_;
  std::vector<WorkerId> group_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> swaps_;
  std::vector<WorkerId> members_;  // of all words, `group_size_` each
  std::vector<std::uint32_t>
      first_word_;  // of each worker in `words_of_`, one entry more than workers; empty: none drawn
  std::vector<std::uint32_t> words_of_;
};

}  // namespace cohort
