// The arithmetic of synchronisations, in one pass over the members' numbers: block by block, so
// that what is read for the mean is still in the cache for the distances from it.
//
// Sums go in the order of the members, in T; squared distances in double. Nothing allocates.
#pragma once

#include <cstddef>
#include <span>

namespace cohort {

// What a member gives to a mean.
template <typename T>
struct Share {
  const T* numbers = nullptr;
  double weight = 0;
};

// `mean` becomes the weighted sum of the shares, and may be one of them; `squared_distances`, one
// for each share, those of its first `measured` numbers from the mean's.
template <typename T>
void weighted_mean(std::span<const Share<T>> shares, std::size_t measured, std::span<T> mean,
                   std::span<double> squared_distances);

// to = from + (mean - snapshot); `to` may be `from`.
template <typename T>
struct Correction {
  std::span<const T> mean{}, snapshot{}, from{};
  std::span<T> to{};
};
template <typename T>
void correct(const Correction<T>& correction);

// sum += weight * numbers.
template <typename T>
void add_weighted(double weight, std::span<const T> numbers, std::span<T> sum);

[[nodiscard]] double squared_distance(std::span<const float> a, std::span<const float> b);
[[nodiscard]] double squared_distance(std::span<const double> a, std::span<const double> b);

}  // namespace cohort
