#include "training/sgd.h"

#include <algorithm>
#include <cmath>

#include "policies/errors.h"
#include "training/wide_loops.h"

namespace cohort {
namespace {

template <typename T>
struct Factors {
  T step, decay, momentum;
};

// One update of all numbers; those written may be those read. Inlined into loops of each width.
template <typename T>
[[gnu::always_inline]] inline void descend_by(const Factors<T>& by, const SgdUpdate<T>& update) {
  const T *g = update.gradient.data(), *x = update.from.data(), *v = update.velocity.data();
  T *to = update.to.data(), *to_v = update.to_velocity.data();
  const std::size_t count = update.from.size();
  if (update.velocity.empty()) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) to[i] = x[i] - by.step * (g[i] + by.decay * x[i]);
    return;
  }
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const T velocity = by.momentum * v[i] + (g[i] + by.decay * x[i]);
    to_v[i] = velocity;
    to[i] = x[i] - by.step * velocity;
  }
}

COHORT_WIDE_LOOP void descend(const Factors<float>& by, const SgdUpdate<float>& update) {
  descend_by(by, update);
}
COHORT_WIDE_LOOP void descend(const Factors<double>& by, const SgdUpdate<double>& update) {
  descend_by(by, update);
}

}  // namespace

double learning_rate(const SgdOptions& options, std::uint64_t samples) {
  const auto& schedule = options.schedule;
  const auto passed = std::ranges::upper_bound(schedule.milestones, samples);
  double rate =
      options.learning_rate * std::pow(schedule.decay, passed - schedule.milestones.begin());
  if (samples < schedule.warm_up_samples)
    rate *= static_cast<double>(samples + 1) / static_cast<double>(schedule.warm_up_samples);
  return rate;
}

template <typename T>
void sgd_update(const SgdOptions& options, double rate, const SgdUpdate<T>& update) {
  const auto size = update.from.size();
  const auto velocities = options.momentum > 0 ? size : 0;
  if (update.gradient.size() != size || update.to.size() != size ||
      update.velocity.size() != velocities || update.to_velocity.size() != velocities)
    throw ContractError("sgd: gradient, parameters and velocity are not equally long");
  descend({static_cast<T>(rate), static_cast<T>(options.weight_decay),
           static_cast<T>(options.momentum)},
          update);
}

template <typename T>
Sgd<T>::Sgd(const SgdOptions& options, std::size_t parameters)
    : options_(options), velocity_(options.momentum > 0 ? parameters : 0) {}

template <typename T>
void Sgd<T>::apply(std::span<const T> gradient, std::span<T> parameters, std::uint64_t samples,
                   double scale) {
  sgd_update<T>(options_, scale * learning_rate(options_, samples),
                {gradient, parameters, velocity_, parameters, velocity_});
}

template void sgd_update(const SgdOptions&, double, const SgdUpdate<float>&);
template void sgd_update(const SgdOptions&, double, const SgdUpdate<double>&);
template class Sgd<float>;
template class Sgd<double>;

}  // namespace cohort
