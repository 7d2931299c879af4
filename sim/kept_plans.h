// Transfer plans of synchronisations whose last transfer has not begun yet; a begun one needs none.
//
// At most kMost are kept: a huge cluster may have ten thousands of synchronisations in their fixed
// terms at once, and planning again when the transfer begins is cheaper than their memory. Owned by
// the simulation. No allocation once warm, but the loads of a huge plan are given back.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/transfer_plan.h"

namespace cohort {

class KeptPlans {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // A place for one plan, or kNone when kMost are taken.
  [[nodiscard]] std::uint32_t take() {
    if (!free_.empty()) {
      const std::uint32_t place = free_.back();
      free_.pop_back();
      return place;
    }
    if (plans_.size() == kMost) return kNone;
    plans_.emplace_back();
    return static_cast<std::uint32_t>(plans_.size() - 1);
  }
  [[nodiscard]] TransferPlan& at(std::uint32_t place) { return plans_[place]; }
  // Does nothing for kNone.
  void give_back(std::uint32_t place) {
    if (place == kNone) return;
    if (plans_[place].loads.capacity() > kHuge) plans_[place].loads = {};
    free_.push_back(place);
  }

 private:
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kHuge = 1024;  // loads

  std::vector<TransferPlan> plans_;
  std::vector<std::uint32_t> free_;
};

}  // namespace cohort
