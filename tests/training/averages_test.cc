// The arithmetic of synchronisations, and the rows that it works on.
#include "training/averages.h"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "training/shared_rows.h"

namespace cohort {
namespace {

constexpr std::size_t kCount = 3000;  // several blocks and a rest

std::vector<float> rising(float first) {
  std::vector<float> numbers(kCount);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

TEST_CASE("averages: the mean is the weighted sum of the shares") {
  const auto a = rising(0), b = rising(100);
  std::vector<float> mean(kCount);
  std::vector<double> distances(2);
  const std::vector<Share<float>> shares{{a.data(), 0.25}, {b.data(), 0.75}};
  weighted_mean<float>(shares, kCount, mean, distances);
  for (std::size_t i = 0; i < kCount; ++i) CHECK(mean[i] == doctest::Approx(a[i] + 75));
}

TEST_CASE("averages: the mean may take the place of a share, whose distance is its old one's") {
  auto a = rising(0);
  const auto b = rising(2);
  std::vector<double> distances(2);
  const std::vector<Share<float>> shares{{a.data(), 0.5}, {b.data(), 0.5}};
  weighted_mean<float>(shares, kCount, a, distances);
  CHECK(a == rising(1));
  CHECK(distances[0] == doctest::Approx(kCount));
  CHECK(distances[1] == doctest::Approx(kCount));
}

TEST_CASE("averages: distances are those of the first numbers alone") {
  const auto a = rising(0), b = rising(2);
  std::vector<float> mean(kCount);
  std::vector<double> distances(2);
  const std::vector<Share<float>> shares{{a.data(), 0.5}, {b.data(), 0.5}};
  weighted_mean<float>(shares, 1500, mean, distances);
  CHECK(distances[0] == doctest::Approx(1500));
}

TEST_CASE("averages: a share without weight counts for nothing, whatever it holds") {
  const auto a = rising(5);
  const std::vector<float> nothing(kCount, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> mean(kCount);
  std::vector<double> distances(2);
  const std::vector<Share<float>> shares{{a.data(), 1}, {nothing.data(), 0}};
  weighted_mean<float>(shares, kCount, mean, distances);
  CHECK(mean == a);
}

TEST_CASE("averages: a correction adds what the mean has more than the snapshot") {
  const auto from = rising(10), mean = rising(7), snapshot = rising(4);
  std::vector<float> to(kCount);
  correct<float>({mean, snapshot, from, to});
  CHECK(to == rising(13));
}

TEST_CASE("averages: a squared distance sums over all blocks") {
  const auto a = rising(0), b = rising(3);
  CHECK(squared_distance(std::span<const float>(a), std::span<const float>(b)) ==
        doctest::Approx(9.0 * kCount));
}

TEST_CASE("shared rows: a row that several hold is left alone by its successor") {
  RowPool<float> rows(4);
  const auto row = rows.take();
  CHECK(rows.successor(row).get() == row.get());
  const auto copy = row;
  CHECK(rows.successor(row).get() != row.get());
}

TEST_CASE("shared rows: the last row that nobody holds is the next to be taken") {
  RowPool<float> rows(4);
  auto one = rows.take(), two = rows.take();
  const auto* numbers = one->numbers().data();
  two.reset();
  one.reset();
  CHECK(rows.take()->numbers().data() == numbers);
}

}  // namespace
}  // namespace cohort
