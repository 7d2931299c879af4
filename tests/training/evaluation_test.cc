// What is measured of a model, on how many threads it may be, and where points of a curve lie.
#include "training/evaluation.h"

#include <doctest/doctest.h>

#include "policies/errors.h"
#include "tests/training/union_sgd.h"
#include "training/memory_check.h"
#include "training/synthetic.h"

namespace cohort {
namespace {

const Dataset& set_of_1100() {
  static const Dataset set = make_synthetic({.training_samples = 1100, .test_samples = 530});
  return set;
}

Score score(const TrainingSpec& spec, std::uint32_t samples, unsigned threads,
            std::uint64_t seed = 1) {
  const TrainingTask task(spec, set_of_1100(), 2, seed);
  TrainerThreads<float> trainers(task, threads);
  const TrainingTask same_start(spec, set_of_1100(), 2, 1);
  const auto x = test::initial_model<float>(same_start);
  return Evaluator<float>(task, samples, trainers).score(x);
}

const TrainingSpec kMlp{.model = MlpOptions{{16}}};

TEST_CASE("evaluation: scores are the same with one, two and three threads") {
  CHECK(score(kMlp, 900, 2) == score(kMlp, 900, 1));
  CHECK(score(kMlp, 900, 3) == score(kMlp, 900, 1));
}

TEST_CASE("evaluation: all training samples where there are no more, and the whole test set") {
  const TrainingTask task(kMlp, set_of_1100(), 2, 1);
  Trainer<float> trainer(task);
  const auto x = test::initial_model<float>(task);
  const auto training = trainer.evaluate(x, set_of_1100().training);
  const auto test = trainer.evaluate(x, set_of_1100().test);
  const auto found = score(kMlp, 2048, 1);
  CHECK(found.loss == doctest::Approx(training.loss_sum / 1100).epsilon(1e-12));
  CHECK(found.accuracy == static_cast<double>(test.correct) / 530);
}

TEST_CASE("evaluation: fewer samples are a choice by the seed, and tell nearly the same loss") {
  const double all = score(kMlp, 2048, 1).loss;
  const double some = score(kMlp, 500, 1).loss;
  CHECK(some != all);
  CHECK(some == doctest::Approx(all).epsilon(0.1));
  CHECK(some == score(kMlp, 500, 1).loss);
  CHECK(some != score(kMlp, 500, 1, 2).loss);
}

TEST_CASE("evaluation: the loss alone is that of the score") {
  const TrainingTask task(kMlp, set_of_1100(), 2, 1);
  TrainerThreads<float> trainers(task, 1);
  const auto x = test::initial_model<float>(task);
  Evaluator<float> evaluator(task, 500, trainers);
  CHECK(evaluator.loss(x) == evaluator.score(x).loss);
}

TEST_CASE("evaluation: a model without classes has no accuracy") {
  CHECK_FALSE(score({.model = QuadraticOptions{}}, 100, 2).accuracy.has_value());
}

TEST_CASE("evaluation: points lie where the plan says, or at a fiftieth of what bounds the run") {
  CHECK(point_spacing({.every = std::uint64_t{7}}, 1000, std::nullopt) ==
        Spacing(std::uint64_t{7}));
  CHECK(point_spacing({.every = Time(7)}, 1000, std::nullopt) == Spacing(Time(7)));
  CHECK(point_spacing({}, 1001, Time(500)) == Spacing(std::uint64_t{21}));
  CHECK(point_spacing({}, 3, std::nullopt) == Spacing(std::uint64_t{1}));
  CHECK(point_spacing({}, std::nullopt, Time(500)) == Spacing(Time(10)));
}

TEST_CASE("evaluation: a run that nothing bounds is a mistake of ours") {
  CHECK_THROWS_AS((void)point_spacing({}, std::nullopt, std::nullopt), ContractError);
}

TEST_CASE("trainer threads: what has not begun when they are stopped never is") {
  const TrainingTask task(kMlp, set_of_1100(), 2, 1);
  TrainerThreads<float> trainers(task, 1);
  bool done = false;
  {
    const auto result = trainers.submit([&](Trainer<float>&) { return done = true; });
    trainers.stop();
  }
  CHECK_FALSE(done);
}

TEST_CASE("trainer threads: an exception reaches whoever asks for the result") {
  const TrainingTask task(kMlp, set_of_1100(), 2, 1);
  for (const unsigned threads : {1U, 2U}) {
    TrainerThreads<float> trainers(task, threads);
    auto result = trainers.submit([](Trainer<float>&) -> int { throw EnvironmentError("no"); });
    CHECK_THROWS_AS((void)result.get(), EnvironmentError);
  }
}

TEST_CASE("memory: what fits is let through, what does not is refused with both sizes") {
  CHECK_NOTHROW(require_memory(1e6));
  CHECK_THROWS_WITH_AS(require_memory(1e18), doctest::Contains("need up to 1000000000.0 GB"),
                       InputError);
}

}  // namespace
}  // namespace cohort
