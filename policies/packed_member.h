// A member of a live synchronisation in four bytes: worker and role, because a large cluster has
// one per worker. For what has to know who is in it, not with which weight.
#pragma once

#include <cstdint>

#include "policies/synchronisation.h"

namespace cohort {

class PackedMember {
 public:
  static constexpr WorkerId kNobody{(1U << 29) - 1};  // numbers of workers and servers are below

  PackedMember() = default;
  explicit PackedMember(const Member& member) : worker_(index(member.worker)), role_(member.role) {}

  [[nodiscard]] WorkerId worker() const { return WorkerId{worker_}; }
  [[nodiscard]] Role role() const { return role_; }

 private:
  std::uint32_t worker_ : 29;
  Role role_ : 3;
};
static_assert(sizeof(PackedMember) == 4);

}  // namespace cohort
