#include "runtime/group_communicators.h"

namespace cohort {

GroupCommunicators::Lease GroupCommunicators::acquire(std::span<const Member> members) {
  const auto [list, hit] = cache_.acquire(members);
  note_dropped();
  const auto place = static_cast<std::size_t>(list);
  if (lists_.size() <= place) lists_.resize(place + 1);
  auto& named = lists_[place];
  if (!hit) {
    named.id = CommunicatorId{next_++};
    named.members.clear();
    for (const auto& member : members) named.members.push_back(member.worker);
  }
  return {list, named.id, !hit};
}

void GroupCommunicators::release(CommunicatorCache::List list) {
  cache_.release(list);
  note_dropped();
}

void GroupCommunicators::note_dropped() {
  dropped_.clear();
  for (const auto list : cache_.dropped())
    dropped_.push_back(std::move(lists_[static_cast<std::size_t>(list)]));
}

}  // namespace cohort
