#include "policies/group_draft.h"

#include <algorithm>
#include <numeric>

namespace cohort {

GroupDraft::GroupDraft(std::uint32_t group_size, std::optional<std::uint32_t> vocabulary,
                       std::uint32_t workers, std::uint64_t seed)
    : group_size_(std::min(group_size, workers)) {
  if (vocabulary) draw_vocabulary(*vocabulary, workers, seed);
}

// A partial Fisher-Yates shuffle that draws again when it meets the caller and is undone at the
// end, so that a draw depends on its stream and on who is in the pool in which order, not on
// earlier draws.
void GroupDraft::add_random(Stream& stream, std::span<WorkerId> pool) {
  const auto caller = group_.front();
  const auto members = static_cast<std::uint32_t>(pool.size());
  for (std::uint32_t taken = 0; group_.size() < group_size_ && taken < members;) {
    if (taken + 1 == members && pool[taken] == caller) break;
    const auto drawn = taken + stream.below(members - taken);
    if (pool[drawn] == caller) continue;
    group_.push_back(pool[drawn]);
    std::swap(pool[taken], pool[drawn]);
    swaps_.emplace_back(taken++, drawn);
  }
  for (; !swaps_.empty(); swaps_.pop_back())
    std::swap(pool[swaps_.back().first], pool[swaps_.back().second]);
}

std::span<const WorkerId> GroupDraft::pick_word(Stream& stream, WorkerId caller) const {
  const auto first = first_word_[index(caller)];
  const auto count = first_word_[index(caller) + 1] - first;
  if (count == 0) return {};
  return std::span(members_).subspan(
      std::size_t{words_of_[first + stream.below(count)]} * group_size_, group_size_);
}

void GroupDraft::draw_vocabulary(std::uint32_t words, std::uint32_t workers, std::uint64_t seed) {
  std::vector<WorkerId> all(workers);
  for (std::uint32_t w = 0; w < workers; ++w) all[w] = WorkerId{w};
  first_word_.assign(workers + 1, 0);
  for (std::uint32_t word = 0; word < words; ++word) {
    Stream stream(seed, Purpose::Policy, word, 0, 1);
    for (std::uint32_t i = 0; i < group_size_; ++i) {
      std::swap(all[i], all[i + stream.below(workers - i)]);
      members_.push_back(all[i]);
      ++first_word_[index(all[i]) + 1];
    }
  }
  std::partial_sum(first_word_.begin(), first_word_.end(), first_word_.begin());
  words_of_.resize(members_.size());
  auto next = first_word_;
  for (std::uint32_t seat = 0; seat < members_.size(); ++seat)
    words_of_[next[index(members_[seat])]++] = seat / group_size_;
}

}  // namespace cohort
