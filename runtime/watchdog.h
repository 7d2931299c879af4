// Ends the process when the sync thread cannot hear that it should end: it may be inside a call of
// a library that waits for a peer which is dead. Has a thread of its own, asleep unless armed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace cohort {

class Watchdog {
 public:
  Watchdog();
  ~Watchdog();

  // Unless a disarm() of its own follows within `limit`: prints `message`, if it has one then, and
  // ends the process with exit code 3. Any thread.
  void arm(std::chrono::milliseconds limit, std::function<std::string()> message);
  // Takes back the oldest arm().
  void disarm();

 private:
  using Clock = std::chrono::steady_clock;
  struct Alarm {
    Clock::time_point end;
    std::function<std::string()> message;
  };

  void watch();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Alarm> alarms_;
  bool stopped_ = false;
  std::thread thread_;  // last: begins when the rest is there
};

}  // namespace cohort
