// The optimiser against its formula, the schedule against its corners, bad options.
#include "training/sgd.h"

#include <doctest/doctest.h>

#include <array>
#include <limits>

#include "policies/errors.h"

namespace cohort {
namespace {

TEST_CASE("sgd: momentum and weight decay follow the formula of PyTorch") {
  Sgd<double> sgd({.learning_rate = 0.5, .momentum = 0.9, .weight_decay = 0.1}, 1);
  std::array<double, 1> x{2};
  const std::array<double, 1> gradient{1};
  sgd.apply(gradient, x, 0);  // v = 1 + 0.2
  CHECK(x[0] == doctest::Approx(2 - 0.5 * 1.2).epsilon(1e-15));
  sgd.apply(gradient, x, 0);  // v = 0.9 * 1.2 + 1 + 0.14
  CHECK(x[0] == doctest::Approx(1.4 - 0.5 * 2.22).epsilon(1e-15));
}

TEST_CASE("sgd: the scale multiplies the rate, and no momentum means no velocity") {
  Sgd<double> sgd({.learning_rate = 0.5}, 1);
  std::array<double, 1> x{2};
  sgd.apply(std::array<double, 1>{1}, x, 0, 0.25);
  CHECK(x[0] == 1.875);
  CHECK(sgd.velocity().empty());
}

TEST_CASE("sgd: vectors of different lengths are a broken promise") {
  Sgd<float> sgd({}, 2);
  std::array<float, 2> x{};
  CHECK_THROWS_AS(sgd.apply(std::array<float, 1>{}, x, 0), ContractError);
}

TEST_CASE("schedule: the rate rises over the warm-up and falls at each milestone") {
  const SgdOptions options{.learning_rate = 2,
                           .schedule = {.warm_up_samples = 100, .milestones = {1000, 2000}}};
  CHECK(learning_rate(options, 0) == doctest::Approx(0.02));
  CHECK(learning_rate(options, 49) == doctest::Approx(1));
  CHECK(learning_rate(options, 100) == 2);
  CHECK(learning_rate(options, 999) == 2);
  CHECK(learning_rate(options, 1000) == doctest::Approx(0.2));
  CHECK(learning_rate(options, 2000) == doctest::Approx(0.02));
}

std::string place_of_error(const TrainingSpec& spec) {
  try {
    check_training(spec);
  } catch (const InputError& error) {
    return error.where();
  }
  return "accepted";
}

TEST_CASE("training options: the defaults are allowed, each value out of range is named") {
  CHECK(place_of_error({}) == "accepted");
  CHECK(place_of_error({.model = MlpOptions{{16, 0}}}) == "/hidden/1");
  CHECK(place_of_error({.model = CnnOptions{{8, 8}, 4}}) == "/kernel");
  CHECK(place_of_error({.model = QuadraticOptions{.condition_number = 0.5}}) ==
        "/condition_number");
  CHECK(place_of_error({.data = SyntheticOptions{.label_noise = 1}}) == "/data/label_noise");
  CHECK(place_of_error({.batch = 0}) == "/batch");
  CHECK(place_of_error({.sgd = {.learning_rate = std::numeric_limits<double>::infinity()}}) ==
        "/learning_rate");
  CHECK(place_of_error({.sgd = {.momentum = 1}}) == "/momentum");
  CHECK(place_of_error({.sgd = {.schedule = {.milestones = {5, 5}}}}) == "/schedule/milestones/1");
  CHECK(place_of_error({.shards = DirichletShards{0}}) == "/shards/dirichlet");
}

TEST_CASE("training options: a synthetic set larger than the memory is refused before it is made") {
  const TrainingSpec huge{.data = SyntheticOptions{.side = 256,
                                                   .training_samples = kMostSamples,
                                                   .test_samples = kMostSamples}};
  CHECK(place_of_error(huge) == "/data");
  CHECK_THROWS_WITH_AS(check_training(huge), doctest::Contains("the samples need up to 1310.7 GB"),
                       InputError);
}

TEST_CASE("sgd: an update written elsewhere is the one written in place, and leaves its source") {
  const SgdOptions options{.learning_rate = 0.5, .momentum = 0.9, .weight_decay = 0.1};
  const std::vector<float> gradient{1, -2}, from{3, 4}, velocity{0.5, -1};
  auto x = from, v = velocity;
  sgd_update<float>(options, 0.25, {gradient, x, v, x, v});
  std::vector<float> to(2), to_velocity(2);
  sgd_update<float>(options, 0.25, {gradient, from, velocity, to, to_velocity});
  CHECK(to == x);
  CHECK(to_velocity == v);
  CHECK(v[0] == doctest::Approx(0.9 * 0.5 + 1 + 0.1 * 3));
  CHECK(x[0] == doctest::Approx(3 - 0.25 * (0.9 * 0.5 + 1 + 0.1 * 3)));
}

}  // namespace
}  // namespace cohort
