#include "runtime/curve_copies.h"

#include <algorithm>
#include <utility>

namespace cohort {

CurveCopies::CurveCopies(const Options& options, VectorUnit& unit, std::size_t entries)
    : options_(options), unit_(unit), entries_(entries) {}

void CurveCopies::look(Time at, std::uint64_t steps, const Buffer& parameters) {
  if (copies_.empty()) origin_ = at;
  while (tick_of(at, steps) > kMostTicks) double_ticks();
  const auto tick = tick_of(at, steps);
  if (!copies_.empty() && tick <= copies_.back().tick) return;
  copies_.push_back({tick, at, steps, take()});
  unit_.copy(parameters.entries(), copies_.back().parameters.entries(), entries_);
}

void CurveCopies::double_ticks() {
  ++doublings_;
  std::vector<Copy> kept;
  for (auto& copy : copies_) {
    copy.tick /= 2;
    if (kept.empty() || copy.tick > kept.back().tick) {
      kept.push_back(std::move(copy));
    } else {
      spare_.push_back(std::move(copy.parameters));
    }
  }
  copies_ = std::move(kept);
}

std::optional<std::uint64_t> CurveCopies::last() const {
  if (copies_.empty()) return std::nullopt;
  return copies_.back().tick;
}

const CurveCopies::Copy& CurveCopies::of(std::uint64_t tick) const {
  return *std::ranges::lower_bound(copies_, tick, {}, &Copy::tick);
}

std::uint64_t CurveCopies::tick_of(Time at, std::uint64_t steps) const {
  const auto passed = options_.time_apart
                          ? static_cast<std::uint64_t>((at - origin_) / *options_.time_apart)
                          : steps * options_.worker_steps / options_.steps_apart;
  return passed >> doublings_;
}

Buffer CurveCopies::take() {
  if (spare_.empty()) return {unit_, entries_};
  auto buffer = std::move(spare_.back());
  spare_.pop_back();
  return buffer;
}

}  // namespace cohort
