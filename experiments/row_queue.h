// The rows that a sweep still has to compute, numbered 0 to count - 1: handed out to threads of
// this process and to other ranks.
//
// A row that another rank has held for long is handed out here once more when nothing else is left:
// every computation of a row gives the same bytes, so the first counts, and a rank that is stuck
// holds nobody up. Called from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort {

class RowQueue {
 public:
  // `stop`: nothing is handed out once it is true; may be null. `patience`: how long another rank
  // may hold a row before it is computed here as well.
  RowQueue(std::size_t count, const std::atomic<bool>* stop,
           std::chrono::milliseconds patience = std::chrono::seconds(2))
      : stop_(stop), patience_(patience), finished_(count, false) {}

  // For a thread of this process: waits for a row. None: all are finished, or the sweep is stopped.
  // Throws what fail() was given.
  [[nodiscard]] std::optional<std::size_t> take();
  // For another rank; never waits.
  [[nodiscard]] std::optional<std::size_t> lend();
  // The rank that held it is gone.
  void give_back(std::size_t row);
  // Its text is kept. Again: nothing.
  void finish(std::size_t row);
  // Ends the sweep with this error.
  void fail(std::exception_ptr error);

  [[nodiscard]] std::size_t finished() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Lent {
    std::size_t row;
    Clock::time_point since;
  };
  [[nodiscard]] std::optional<std::size_t> waiting();
  [[nodiscard]] std::optional<std::size_t> overdue();

  const std::atomic<bool>* stop_;
  std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<bool> finished_;
  std::size_t finished_count_ = 0;
  std::size_t next_ = 0;
  std::vector<std::size_t> returned_;
  std::deque<Lent> lent_;  // longest ago first; some are finished
  std::exception_ptr error_;
};

}  // namespace cohort
