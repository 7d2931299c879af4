#include "training/averages.h"

#include <Eigen/Core>
#include <algorithm>

#include "policies/prefetch.h"

namespace cohort {
namespace {

// Numbers at a time: four cache lines, so that a block of the mean stays in registers.
template <typename T>
constexpr int kBlock = 256 / sizeof(T);
// How far ahead numbers are asked for: the processor does not foresee what is read from many rows
// in turns.
template <typename T>
constexpr int kAhead = 1024 / sizeof(T);

template <typename T, int Count = Eigen::Dynamic>
using Numbers = Eigen::Map<Eigen::Array<T, Count, 1>>;
template <typename T, int Count = Eigen::Dynamic>
using ConstNumbers = Eigen::Map<const Eigen::Array<T, Count, 1>>;

template <typename T>
ConstNumbers<T> numbers(const T* first, std::size_t count) {
  return {first, static_cast<Eigen::Index>(count)};
}

template <typename T>
void ask_for(const T* block) {
  for (std::size_t line = 0; line < kBlock<T>; line += 64 / sizeof(T))
    prefetch(block + kAhead<T> + line);
}

template <typename T, int Count>
double distance_of_block(const T* a, const T* b, Eigen::Index count) {
  return static_cast<double>(
      (ConstNumbers<T, Count>(a, count) - ConstNumbers<T, Count>(b, count)).square().sum());
}

template <typename T>
double distance(std::span<const T> a, std::span<const T> b) {
  double sum = 0;
  std::size_t i = 0;
  for (; i + kBlock<T> <= a.size(); i += kBlock<T>)
    sum += distance_of_block<T, kBlock<T>>(a.data() + i, b.data() + i, kBlock<T>);
  return sum + distance_of_block<T, Eigen::Dynamic>(a.data() + i, b.data() + i,
                                                    static_cast<Eigen::Index>(a.size() - i));
}

// The mean's numbers from `first` on, `count` of them, at most a block: `Count`, where it is fixed.
template <typename T, int Count>
void mean_of_block(std::span<const Share<T>> shares, std::size_t first, Eigen::Index count, T* mean,
                   std::span<double> squared_distances) {
  Eigen::Array<T, Count, 1, 0, kBlock<T>, 1> sum(count);
  sum.setZero();
  for (const auto& share : shares) {
    ask_for(share.numbers + first);
    if (share.weight != 0)
      sum += static_cast<T>(share.weight) * ConstNumbers<T, Count>(share.numbers + first, count);
  }
  for (std::size_t i = 0; i < squared_distances.size(); ++i)
    squared_distances[i] +=
        distance_of_block<T, Count>(shares[i].numbers + first, sum.data(), count);
  Numbers<T, Count>(mean + first, count) = sum;
}

template <typename T>
void mean_of_range(std::span<const Share<T>> shares, std::size_t first, std::size_t end, T* mean,
                   std::span<double> squared_distances) {
  for (; first + kBlock<T> <= end; first += kBlock<T>)
    mean_of_block<T, kBlock<T>>(shares, first, kBlock<T>, mean, squared_distances);
  mean_of_block<T, Eigen::Dynamic>(shares, first, static_cast<Eigen::Index>(end - first), mean,
                                   squared_distances);
}

}  // namespace

template <typename T>
void weighted_mean(std::span<const Share<T>> shares, std::size_t measured, std::span<T> mean,
                   std::span<double> squared_distances) {
  std::ranges::fill(squared_distances, 0.0);
  mean_of_range(shares, 0, measured, mean.data(), squared_distances);
  mean_of_range(shares, measured, mean.size(), mean.data(), {});
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
