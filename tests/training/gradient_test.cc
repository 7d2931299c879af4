// Every model's gradient against central differences of its own loss, in double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "policies/errors.h"
#include "tests/training/random_batch.h"
#include "training/model.h"

namespace cohort {
namespace {

constexpr std::uint32_t kClasses = 4;

// Largest difference between the gradient and central differences, relative to the largest entry.
double gradient_error(const ModelOptions& options, ImageShape shape) {
  const auto model = make_model<double>(options, shape, kClasses);
  auto x = test::initial_parameters(*model);
  const auto batch = test::random_batch<double>(5, shape, kClasses);
  std::vector<double> gradient(x.size()), unused(x.size());
  (void)model->gradient(x, batch, gradient);
  constexpr double kStep = 1e-5;
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + kStep;
    const double above = model->gradient(x, batch, unused);
    x[i] = at - kStep;
    const double below = model->gradient(x, batch, unused);
    x[i] = at;
    error = std::max(error, std::abs((above - below) / (2 * kStep) - gradient[i]));
    largest = std::max(largest, std::abs(gradient[i]));
  }
  REQUIRE(largest > 0.01);
  return error / largest;
}

TEST_CASE("gradient of quadratic agrees with central differences") {
  CHECK(gradient_error(QuadraticOptions{.dimensions = 20, .condition_number = 100}, {}) < 1e-6);
}

TEST_CASE("gradient of softmax regression agrees with central differences") {
  CHECK(gradient_error(SoftmaxOptions{}, {1, 3, 5}) < 1e-6);
}

TEST_CASE("gradient of an MLP agrees with central differences") {
  CHECK(gradient_error(MlpOptions{{7}}, {1, 3, 4}) < 1e-6);
  CHECK(gradient_error(MlpOptions{{5, 9, 3}}, {2, 2, 3}) < 1e-6);
}

TEST_CASE("gradient of a CNN agrees with central differences") {
  CHECK(gradient_error(CnnOptions{{3, 2}, 3}, {2, 8, 6}) < 1e-6);
  CHECK(gradient_error(CnnOptions{{2, 3}, 5}, {1, 7, 9}) < 1e-6);
}

TEST_CASE("gradient of a CNN agrees where the kernel is wider than the image") {
  CHECK(gradient_error(CnnOptions{{2, 2}, 7}, {1, 4, 5}) < 1e-6);
}

TEST_CASE("evaluation sums what the gradient's loss is the mean of") {
  for (const ModelOptions& options : {ModelOptions{SoftmaxOptions{}}, ModelOptions{MlpOptions{{6}}},
                                      ModelOptions{CnnOptions{}}}) {
    const ImageShape shape{1, 6, 6};
    const auto model = make_model<double>(options, shape, kClasses);
    const auto x = test::initial_parameters(*model);
    const auto batch = test::random_batch<double>(8, shape, kClasses);
    std::vector<double> gradient(x.size());
    const double mean = model->gradient(x, batch, gradient);
    CHECK(model->evaluate(x, batch).loss_sum == doctest::Approx(8 * mean).epsilon(1e-12));
  }
}

TEST_CASE("a smaller batch after a larger one sees nothing of it") {
  const ImageShape shape{1, 6, 6};
  for (const ModelOptions& options : {ModelOptions{MlpOptions{{6}}}, ModelOptions{CnnOptions{}}}) {
    const auto used = make_model<double>(options, shape, kClasses);
    const auto fresh = make_model<double>(options, shape, kClasses);
    const auto x = test::initial_parameters(*used);
    std::vector<double> from_used(x.size()), from_fresh(x.size());
    (void)used->gradient(x, test::random_batch<double>(9, shape, kClasses, 2), from_used);
    const auto small = test::random_batch<double>(3, shape, kClasses);
    CHECK(used->gradient(x, small, from_used) == fresh->gradient(x, small, from_fresh));
    CHECK(from_used == from_fresh);
  }
}

TEST_CASE("initial parameters depend on the seed alone") {
  const auto model = make_model<float>(MlpOptions{{8}}, {1, 4, 4}, kClasses);
  CHECK(test::initial_parameters(*model, 5) == test::initial_parameters(*model, 5));
  CHECK(test::initial_parameters(*model, 5) != test::initial_parameters(*model, 6));
}

TEST_CASE("a parameter that is not a number shows in the loss, wherever it is") {
  const ImageShape shape{1, 6, 6};
  for (const ModelOptions& options :
       {ModelOptions{MlpOptions{{6, 5}}}, ModelOptions{CnnOptions{}}}) {
    const auto model = make_model<float>(options, shape, kClasses);
    const auto batch = test::random_batch<float>(4, shape, kClasses);
    for (const bool first : {true, false}) {
      auto x = test::initial_parameters(*model);
      (first ? x.front() : x.back()) = std::numeric_limits<float>::quiet_NaN();
      std::vector<float> gradient(x.size());
      CHECK_FALSE(std::isfinite(model->gradient(x, batch, gradient)));
    }
  }
}

TEST_CASE("a CNN that would spread a sample over more memory than there is, is refused") {
  CHECK_THROWS_WITH_AS((void)make_model<float>(CnnOptions{{1024, 1024}, 15}, {1, 4096, 4096}, 10),
                       doctest::Contains("GB of memory"), InputError);
}

TEST_CASE("a CNN refuses images that two poolings would leave nothing of") {
  CHECK_THROWS_AS((void)make_model<float>(CnnOptions{}, {1, 3, 8}, kClasses), InputError);
}

}  // namespace
}  // namespace cohort
