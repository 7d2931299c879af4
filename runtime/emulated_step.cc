#include "runtime/emulated_step.h"

#include <algorithm>
#include <vector>

#include "policies/random.h"
#include "runtime/step_clock.h"

namespace cohort {
namespace {

constexpr std::size_t kSlice = 4096;

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

class SleepingStep : public LocalStep {
 public:
  bool compute(Replica& replica, std::uint64_t, Time work) override {
    sleep_until(monotonic_now() + work, replica);
    return true;
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
