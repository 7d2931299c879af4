#include "runtime/emulated_step.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include "policies/random.h"

namespace cohort {
namespace {

constexpr std::size_t kSlice = 4096;
constexpr Time kLook = std::chrono::milliseconds(50);  // between two looks at Replica::over

struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
};

Slice slice_of(std::size_t entries, std::uint64_t step) {
  const auto slices = (entries + kSlice - 1) / kSlice;
  if (slices == 0) return {};
  const auto first = step % slices * kSlice;
  return {first, std::min(kSlice, entries - first)};
}

std::vector<float> change(const message::Prepare& prepare, std::uint64_t step, std::size_t count) {
  Stream stream(prepare.seed, Purpose::DataOrder, prepare.member, step);
  std::vector<float> values(count);
  for (auto& value : values) value = static_cast<float>(stream.uniform() - 0.5) * 0.01F;
  return values;
}

Time monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + Time(now.tv_nsec);
}

void sleep_until(Time instant) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(instant);
  const timespec until{seconds.count(), (instant - seconds).count()};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

class SleepingStep : public LocalStep {
 public:
  void compute(Replica& replica, std::uint64_t, Time work) override {
    const auto end = monotonic_now() + work;
    prctl(PR_SET_TIMERSLACK, 1UL);  // of the calling thread; the default is 50 us
    for (auto now = end - work; now < end && !replica.over; now = monotonic_now()) {
      sleep_until(std::min(end, now + kLook));
    }
  }
  void apply(Replica& replica, std::uint64_t step) override { change_.apply(replica, step); }

 private:
  EmulatedChange change_;
};

}  // namespace

void EmulatedChange::apply(Replica& replica, std::uint64_t step) {
  const bool pushed = replica.prepare().update != ServerUpdate::None;
  const auto& target = pushed ? replica.gradient : replica.parameters;
  const auto slice = slice_of(target.count(), step);
  auto& unit = replica.unit();
  if (slice_.count() == 0) slice_ = Buffer(unit, std::min(kSlice, target.count()));
  if (pushed) unit.scale(0, target.entries(), target.count());
  unit.write(change(replica.prepare(), step, slice.count), slice_.entries());
  unit.add(1, slice_.entries(), target.entries() + slice.first, slice.count);
}

std::unique_ptr<LocalStep> make_sleeping_step() { return std::make_unique<SleepingStep>(); }

}  // namespace cohort
