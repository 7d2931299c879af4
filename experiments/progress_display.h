// How far a long command is: on a terminal a bar with rate and time left, redrawn in place;
// elsewhere a plain line every few seconds. Writes to stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace cohort {

class ProgressDisplay {
 public:
  // Silent for what takes less than a second.
  explicit ProgressDisplay(std::string unit);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void update(std::size_t finished, std::size_t total);

 private:
  using Clock = std::chrono::steady_clock;
  std::string unit_;
  bool terminal_;
  Clock::time_point begin_;
  Clock::time_point last_line_;
  std::optional<std::size_t> first_finished_;  // already there when this command began
  bool drawn_ = false;
};

// "12 s", "3 min 20 s", "2 h 5 min".
[[nodiscard]] std::string readable(std::chrono::seconds duration);

}  // namespace cohort
