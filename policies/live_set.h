// The workers that can still be drawn at random: removal and a draw cost O(1).
//
// The order inside depends only on the removals so far, so a draw is reproducible. For ad-psgd.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/random.h"

namespace cohort {

class LiveSet {
 public:
  explicit LiveSet(std::uint32_t workers) : place_(workers, kAbsent) {}

  void insert(std::uint32_t worker) {
    place_[worker] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(worker);
  }
  // Does nothing when `worker` is not in the set.
  void erase(std::uint32_t worker) {
    if (!contains(worker)) return;
    place_[members_.back()] = place_[worker];
    members_[place_[worker]] = members_.back();
    members_.pop_back();
    place_[worker] = kAbsent;
  }
  [[nodiscard]] bool contains(std::uint32_t worker) const { return place_[worker] != kAbsent; }

  // A uniform member other than `except`; empty when there is none.
  [[nodiscard]] std::optional<std::uint32_t> draw(Stream& stream, std::uint32_t except) const {
    const auto others = static_cast<std::uint32_t>(members_.size()) - (contains(except) ? 1 : 0);
    if (others == 0) return std::nullopt;
    auto place = stream.below(others);
    if (contains(except) && place >= place_[except]) ++place;
    return members_[place];
  }

 private:
  static constexpr std::uint32_t kAbsent = ~0U;
  std::vector<std::uint32_t> members_;
  std::vector<std::uint32_t> place_;  // in members_
};

}  // namespace cohort
