// How a sync thread waits between two looks at operations that are under way: spins a short while
// after the last progress where ranks may, then naps that grow a little and that a message ends.
#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/inbox.h"

namespace cohort {

class Patience {
 public:
  explicit Patience(bool may_spin) : may_spin_(may_spin) {}

  void progressed() {
    since_ = Clock::now();
    nap_ = kShortestNap;
  }
  void wait(Inbox& inbox) {
    if (may_spin_ && Clock::now() - since_ < kSpin) return;
    inbox.wait_for(nap_);
    nap_ = std::min(nap_ + nap_ / 8, kLongestNap);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Time kSpin = std::chrono::milliseconds(1);
  static constexpr Time kShortestNap = std::chrono::microseconds(50);
  static constexpr Time kLongestNap = std::chrono::microseconds(200);

  bool may_spin_;
  Clock::time_point since_ = Clock::now();
  Time nap_ = kShortestNap;
};

}  // namespace cohort
