// How many steps the live workers have done: smallest, largest and the largest difference ever
// seen. O(1) amortised per step.
//
// Differences count at the end of an instant: workers released together by one synchronisation are
// never apart.
#pragma once

#include <cstdint>
#include <vector>

namespace cohort {

class Progress {
 public:
  explicit Progress(std::uint32_t workers) : live_(workers), count_(64) { count_[0] = workers; }

  // A live worker that had done `steps` steps has done one more.
  void advance(std::uint64_t steps) {
    if (steps + 1 - min_ >= count_.size()) grow();
    --at(steps);
    ++at(steps + 1);
    if (steps + 1 > max_) max_ = steps + 1;
    while (at(min_) == 0) ++min_;
  }
  // The instant is over.
  void settle() {
    if (max_ - min_ > max_skew_) max_skew_ = max_ - min_;
  }
  // A worker with `steps` steps done is no longer live.
  void remove(std::uint64_t steps) {
    --at(steps);
    if (--live_ == 0) return;
    while (at(min_) == 0) ++min_;
    while (at(max_) == 0) --max_;
  }
  [[nodiscard]] std::uint32_t live() const { return live_; }
  [[nodiscard]] std::uint64_t min() const { return min_; }  // while live() > 0
  [[nodiscard]] std::uint64_t max_skew() const { return max_skew_; }

 private:
  [[nodiscard]] std::uint32_t& at(std::uint64_t steps) {
    return count_[steps & (count_.size() - 1)];
  }
  [[gnu::noinline]] void grow() {
    std::vector<std::uint32_t> larger(2 * count_.size());
    for (std::uint64_t steps = min_; steps <= max_; ++steps)
      larger[steps & (larger.size() - 1)] = at(steps);
    count_.swap(larger);
  }

  std::uint32_t live_;
  std::uint64_t min_ = 0, max_ = 0, max_skew_ = 0;
  std::vector<std::uint32_t> count_;  // live workers by steps done, a ring over [min_, max_]
};

}  // namespace cohort
