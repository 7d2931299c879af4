// What came for the sync thread: put by the control link's thread, taken by the sync thread alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/messages.h"

namespace cohort {

struct Letter {
  Message message;
  Time arrived{};        // of a start
  bool watched = false;  // a watchdog waits for it to be dealt with
};

class Inbox {
 public:
  void put(Letter letter) {
    const std::scoped_lock lock(mutex_);
    letters_.push_back(std::move(letter));
    filled();
  }
  // Something broke on another thread of this process: take() throws it once it has handed out what
  // came before.
  void fail(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    filled();
  }

  // What is there, in the order of arrival; does not wait.
  [[nodiscard]] std::vector<Letter> take() {
    if (!any_) return {};
    const std::scoped_lock lock(mutex_);
    if (letters_.empty()) std::rethrow_exception(failure_);
    any_ = failure_ != nullptr;
    return std::exchange(letters_, {});
  }
  // Until something is there.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return any_.load(); });
  }
  void wait_for(std::chrono::nanoseconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] { return any_.load(); });
  }

 private:
  void filled() {
    any_ = true;
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Letter> letters_;
  std::exception_ptr failure_;
  std::atomic<bool> any_{false};  // written with the lock
};

}  // namespace cohort
