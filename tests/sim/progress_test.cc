#include "sim/progress.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "policies/random.h"

namespace cohort {

TEST_CASE("progress: the slowest worker sets the minimum, the largest difference is kept") {
  Progress progress(2);
  progress.advance(0);
  progress.advance(1);
  progress.advance(2);
  progress.settle();
  CHECK(progress.min() == 0);
  CHECK(progress.max_skew() == 3);
  progress.advance(0);
  progress.advance(1);
  progress.advance(2);
  progress.settle();
  CHECK(progress.min() == 3);
  CHECK(progress.max_skew() == 3);
}

TEST_CASE("progress: workers that advance in one instant are never apart") {
  Progress progress(3);
  for (std::uint64_t step = 0; step < 5; ++step) {
    for (int worker = 0; worker < 3; ++worker) progress.advance(step);
    progress.settle();
  }
  CHECK(progress.max_skew() == 0);
}

TEST_CASE("progress: a worker that left holds nobody back") {
  Progress progress(2);
  progress.advance(0);
  progress.advance(1);
  progress.remove(0);
  CHECK(progress.live() == 1);
  CHECK(progress.min() == 2);
}

TEST_CASE("progress: the fastest worker leaves without a trace in later differences") {
  Progress progress(3);
  for (std::uint64_t step = 0; step < 10; ++step) progress.advance(step);
  progress.settle();
  progress.remove(10);
  progress.advance(0);
  progress.settle();
  CHECK(progress.max_skew() == 10);
  CHECK(progress.min() == 0);
}

TEST_CASE("progress: differences far beyond its first ring are counted right") {
  constexpr std::uint32_t kWorkers = 7;
  Stream random(1, Purpose::Tie, 0, 0);
  Progress progress(kWorkers);
  std::vector<std::uint64_t> steps(kWorkers);
  std::uint64_t skew = 0;
  for (int round = 0; round < 20'000; ++round) {
    // Low numbers are drawn more often, so some workers fall thousands of steps behind.
    const std::uint32_t worker = random.below(random.below(kWorkers) + 1);
    progress.advance(steps[worker]++);
    progress.settle();
    const auto [least, most] = std::ranges::minmax(steps);
    skew = std::max(skew, most - least);
    REQUIRE(progress.min() == least);
    REQUIRE(progress.max_skew() == skew);
  }
  CHECK(skew > 1000);
}

}  // namespace cohort
