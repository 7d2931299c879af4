// Copies of a member's parameters at points of a run, from which its learning curve is evaluated
// once it is over (runtime/curve_evaluation.h), so that measuring disturbs nothing.
//
// The run is cut into *ticks* of a number of worker-steps (own steps * workers; at a server:
// pushes) or of time since the member's first look. At the first look at or after the end of a tick
// a copy is taken; it serves all ticks that ended since the copy before. There are at most
// kMostTicks: when a run goes further, every second tick is forgotten, and they are twice as long
// from then on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/messages.h"
#include "runtime/vector_unit.h"

namespace cohort {

class CurveCopies {
 public:
  static constexpr std::uint64_t kMostTicks = 64;

  struct Copy {
    std::uint64_t tick = 0;  // the last one that it serves
    Time at{};
    std::uint64_t steps = 0;
    Buffer parameters;
  };

  struct Options {
    std::uint64_t steps_apart = 1;  // see TrainingTerms
    std::optional<Time> time_apart{};
    std::uint64_t worker_steps = 1;  // that one step of the member stands for
  };

  // Of the first `entries` that look() is given.
  CurveCopies(const Options& options, VectorUnit& unit, std::size_t entries);

  void look(Time at, std::uint64_t steps, const Buffer& parameters);

  // How often ticks have been doubled.
  [[nodiscard]] std::uint32_t doublings() const { return doublings_; }
  void double_ticks();
  // There is a copy for each tick up to the last one; none: there has been no look.
  [[nodiscard]] std::optional<std::uint64_t> last() const;
  [[nodiscard]] const Copy& of(std::uint64_t tick) const;

 private:
  [[nodiscard]] std::uint64_t tick_of(Time at, std::uint64_t steps) const;
  [[nodiscard]] Buffer take();

  Options options_;
  VectorUnit& unit_;
  std::size_t entries_;
  Time origin_{};
  std::uint32_t doublings_ = 0;
  std::vector<Copy> copies_;   // by ascending tick
  std::vector<Buffer> spare_;  // of forgotten ones
};

}  // namespace cohort
