#include "training/averages.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>

namespace cohort {
namespace {

constexpr std::size_t kBlock = 1024;  // numbers

template <typename T>
using Numbers = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using ConstNumbers = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

template <typename T>
ConstNumbers<T> numbers(const T* first, std::size_t count) {
  return {first, static_cast<Eigen::Index>(count)};
}

template <typename T>
double block_distance(const T* a, const T* b, std::size_t count) {
  return static_cast<double>((numbers(a, count) - numbers(b, count)).square().sum());
}

template <typename T>
double distance(std::span<const T> a, std::span<const T> b) {
  double sum = 0;
  for (std::size_t first = 0; first < a.size(); first += kBlock)
    sum += block_distance(a.data() + first, b.data() + first, std::min(kBlock, a.size() - first));
  return sum;
}

}  // namespace

template <typename T>
void weighted_mean(std::span<const Share<T>> shares, std::size_t measured, std::span<T> mean,
                   std::span<double> squared_distances) {
  std::ranges::fill(squared_distances, 0.0);
  std::array<T, kBlock> block;
  for (std::size_t first = 0; first < mean.size(); first += kBlock) {
    const auto count = std::min(kBlock, mean.size() - first);
    Numbers<T> sum(block.data(), static_cast<Eigen::Index>(count));
    sum.setZero();
    for (const auto& share : shares)
      if (share.weight != 0)
        sum += static_cast<T>(share.weight) * numbers(share.numbers + first, count);
    const auto counted = std::min(count, measured - std::min(measured, first));
    for (std::size_t i = 0; i < shares.size(); ++i)
      squared_distances[i] += block_distance(shares[i].numbers + first, block.data(), counted);
    std::copy_n(block.data(), count, mean.data() + first);
  }
}

template <typename T>
void correct(const Correction<T>& correction) {
  const auto count = correction.to.size();
  Numbers<T>(correction.to.data(), static_cast<Eigen::Index>(count)) =
      numbers(correction.from.data(), count) +
      (numbers(correction.mean.data(), count) - numbers(correction.snapshot.data(), count));
}

template <typename T>
void add_weighted(double weight, std::span<const T> numbers_added, std::span<T> sum) {
  Numbers<T>(sum.data(), static_cast<Eigen::Index>(sum.size())) +=
      static_cast<T>(weight) * numbers(numbers_added.data(), sum.size());
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  return distance(a, b);
}
double squared_distance(std::span<const double> a, std::span<const double> b) {
  return distance(a, b);
}

template void weighted_mean(std::span<const Share<float>>, std::size_t, std::span<float>,
                            std::span<double>);
template void weighted_mean(std::span<const Share<double>>, std::size_t, std::span<double>,
                            std::span<double>);
template void correct(const Correction<float>&);
template void correct(const Correction<double>&);
template void add_weighted(double, std::span<const float>, std::span<float>);
template void add_weighted(double, std::span<const double>, std::span<double>);

}  // namespace cohort
