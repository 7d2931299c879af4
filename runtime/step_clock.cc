#include "runtime/step_clock.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace cohort {
namespace {

constexpr Time kLook = std::chrono::milliseconds(50);  // between two looks at Replica::over

void sleep_until(Time instant) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(instant);
  const timespec until{seconds.count(), (instant - seconds).count()};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// Urgent while it sleeps, so that it wakes at once where others keep all processors busy; as far as
// the user may have that.
class UrgentSleep {
 public:
  UrgentSleep() { setpriority(PRIO_PROCESS, 0, -20); }
  ~UrgentSleep() { setpriority(PRIO_PROCESS, 0, before_); }
  UrgentSleep(const UrgentSleep&) = delete;
  UrgentSleep& operator=(const UrgentSleep&) = delete;

 private:
  int before_ = getpriority(PRIO_PROCESS, 0);
};

}  // namespace

Time monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + Time(now.tv_nsec);
}

void sleep_until(Time instant, const Replica& replica) {
  prctl(PR_SET_TIMERSLACK, 1UL);  // of the calling thread; the default is 50 us
  const UrgentSleep urgent;
  for (auto now = monotonic_now(); now < instant && !replica.over; now = monotonic_now()) {
    sleep_until(std::min(instant, now + kLook));
  }
}

}  // namespace cohort
