// A member of a synchronisation as the simulator holds it: worker and role in four bytes, because a
// large cluster has one per worker. Weights are the training's affair; the simulator moves bytes.
#pragma once

#include <cstdint>

#include "policies/synchronisation.h"

namespace cohort {

class PackedMember {
 public:
  // The number of the worker or server is below 2^29.
  explicit PackedMember(const Member& member) : worker_(index(member.worker)), role_(member.role) {}

  [[nodiscard]] WorkerId worker() const { return WorkerId{worker_}; }
  [[nodiscard]] Role role() const { return role_; }

 private:
  std::uint32_t worker_ : 29;
  Role role_ : 3;
};
static_assert(sizeof(PackedMember) == 4);

}  // namespace cohort
