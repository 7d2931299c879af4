// Stochastic gradient descent as PyTorch defines it: g <- g + weight_decay * x; v <- momentum * v +
// g; x <- x - rate * v. The velocity v is one worker's own and starts at 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/training_spec.h"

namespace cohort {

// Rate after `samples` samples of all workers together: rises linearly to the full one over the
// warm-up, then falls by `decay` at each milestone reached.
[[nodiscard]] double learning_rate(const SgdOptions& options, std::uint64_t samples);

// What one update reads, and where it writes: `to` and `to_velocity` may be `from` and `velocity`.
// Velocities are empty without momentum.
template <typename T>
struct SgdUpdate {
  std::span<const T> gradient{}, from{}, velocity{};
  std::span<T> to{}, to_velocity{};
};

// For parameters and velocities that others hold. Throws ContractError on unequal lengths.
template <typename T>
void sgd_update(const SgdOptions& options, double rate, const SgdUpdate<T>& update);

template <typename T>
class Sgd {
 public:
  Sgd(const SgdOptions& options, std::size_t parameters);

  // `scale` multiplies the rate (1/n for a push to an asynchronous server). Both spans hold as many
  // numbers as there are parameters.
  void apply(std::span<const T> gradient, std::span<T> parameters, std::uint64_t samples,
             double scale = 1);

  // For policies that average it too; empty without momentum.
  [[nodiscard]] std::span<T> velocity() { return velocity_; }

 private:
  SgdOptions options_;
  std::vector<T> velocity_;
};

}  // namespace cohort
