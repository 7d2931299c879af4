#include "sim/connectivity.h"

#include <numeric>

namespace cohort {

Connectivity::Connectivity(std::uint32_t members) : parent_(members), parts_(members) {
  std::iota(parent_.begin(), parent_.end(), 0U);
}

std::uint32_t Connectivity::root(std::uint32_t member) {
  while (parent_[member] != member) member = parent_[member] = parent_[parent_[member]];
  return member;
}

void Connectivity::unite(std::span<const PackedMember> members) {
  const std::uint32_t first = root(index(members.front().worker()));
  for (const auto& member : members) {
    const std::uint32_t other = root(index(member.worker()));
    if (other == first) continue;
    parent_[other] = first;
    --parts_;
  }
}

void Connectivity::end_window(std::uint64_t steps) {
  connected_ = connected_.value_or(true) && parts_ == 1;
  window_end_ = (steps / kWindow + 1) * kWindow;
  parts_ = static_cast<std::uint32_t>(parent_.size());
  std::iota(parent_.begin(), parent_.end(), 0U);
}

}  // namespace cohort
