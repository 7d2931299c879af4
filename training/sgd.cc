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
Sgd<T>::Sgd(const SgdOptions& options, std::size_t parameters)
    : options_(options), velocity_(options.momentum > 0 ? parameters : 0) {}

template <typename T>
void Sgd<T>::apply(std::span<const T> gradient, std::span<T> parameters, std::uint64_t samples,
                   double scale) {
  if (gradient.size() != parameters.size() ||
      (!velocity_.empty() && velocity_.size() != parameters.size()))
    throw ContractError("sgd: gradient, parameters and velocity are not equally long");
  const auto rate = static_cast<T>(scale * learning_rate(options_, samples));
  const auto decay = static_cast<T>(options_.weight_decay);
  const auto count = static_cast<Eigen::Index>(parameters.size());
  const ConstNumbers<T> g(gradient.data(), count);
  Numbers<T> x(parameters.data(), count);
  if (velocity_.empty()) {
    x -= rate * (g + decay * x);
    return;
  }
  Numbers<T> v(velocity_.data(), count);
  v = static_cast<T>(options_.momentum) * v + (g + decay * x);
  x -= rate * v;
}

template class Sgd<float>;
template class Sgd<double>;

}  // namespace cohort
