#include "training/sgd.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "policies/errors.h"

namespace cohort {
namespace {

template <typename T>
using Numbers = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using ConstNumbers = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

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
  const auto step = static_cast<T>(rate);
  const auto decay = static_cast<T>(options.weight_decay);
  const auto count = static_cast<Eigen::Index>(size);
  const ConstNumbers<T> g(update.gradient.data(), count), x(update.from.data(), count);
  Numbers<T> to(update.to.data(), count);
  if (velocities == 0) {
    to = x - step * (g + decay * x);
    return;
  }
  Numbers<T> v(update.to_velocity.data(), count);
  v = static_cast<T>(options.momentum) * ConstNumbers<T>(update.velocity.data(), count) +
      (g + decay * x);
  to = x - step * v;
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
