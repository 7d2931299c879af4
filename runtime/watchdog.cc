#include "runtime/watchdog.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace cohort {

Watchdog::Watchdog() : thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::arm(std::chrono::milliseconds limit, std::function<std::string()> message) {
  const std::scoped_lock lock(mutex_);
  alarms_.push_back({Clock::now() + limit, std::move(message)});
  changed_.notify_one();
}

void Watchdog::disarm() {
  const std::scoped_lock lock(mutex_);
  if (!alarms_.empty()) alarms_.pop_front();
}

void Watchdog::watch() {
  const auto earlier = [](const Alarm& a, const Alarm& b) { return a.end < b.end; };
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    const auto next = std::min_element(alarms_.begin(), alarms_.end(), earlier);
    if (next == alarms_.end()) {
      changed_.wait(lock);
    } else if (const auto end = next->end; Clock::now() < end) {
      changed_.wait_until(lock, end);
    } else {
      const auto text = next->message();
      if (!text.empty()) std::fprintf(stderr, "%s\n", text.c_str());
      std::fflush(stderr);
      std::_Exit(3);
    }
  }
}

}  // namespace cohort
