// How a sync thread waits between two looks at operations that are under way: spins a short while
// after the last progress where ranks may, then naps that grow a little and that a message ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/inbox.h"

namespace cohort {

// The lengths of naps between polls for one thing.
class Naps {
 public:
  static constexpr Time kShortest = std::chrono::microseconds(50);

  explicit Naps(Time longest = std::chrono::microseconds(200)) : longest_(longest) {}

  void restart() { nap_ = kShortest; }
  Time next() { return std::exchange(nap_, std::min(nap_ + nap_ / 8, longest_)); }

 private:
  Time longest_;
  Time nap_ = kShortest;
};

class Patience {
 public:
  explicit Patience(bool may_spin) : may_spin_(may_spin) {}

  void progressed() {
    since_ = Clock::now();
    naps_.restart();
  }
  void wait(Inbox& inbox) {
    if (may_spin_ && Clock::now() - since_ < kSpin) return;
    inbox.wait_for(naps_.next());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Time kSpin = std::chrono::milliseconds(1);

  bool may_spin_;
  Clock::time_point since_ = Clock::now();
  Naps naps_;
};

}  // namespace cohort
