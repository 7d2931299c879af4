// Training for real, with ranks as threads: the same code as over MPI, but for the transport.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "policies/errors.h"
#include "runtime/learning_record.h"
#include "tests/runtime/random_job.h"
#include "tests/runtime/thread_job.h"
#include "tests/runtime/training_job.h"

namespace cohort {
namespace {

using doctest::Approx;

RunRecord trained(const RunSetup& setup) {
  ThreadJob job(4 + setup.topology.servers());
  auto record = job.run(setup);
  CHECK(job.end("") == std::set<std::string>{"well"});
  return record;
}

void check_same_curve(const RunRecord& one, const RunRecord& other) {
  REQUIRE(last(one).samples == last(other).samples);
  const auto& curve = one.learning->curve;
  REQUIRE(curve.size() == other.learning->curve.size());
  for (std::size_t i = 0; i < curve.size(); ++i)
    CHECK(curve[i].mean.loss == Approx(other.learning->curve[i].mean.loss).epsilon(1e-5));
}

}  // namespace

TEST_CASE("training: all-reduce on four ranks is SGD of one process on all their batches") {
  const auto setup = training_setup("all-reduce", {}, softmax_plan());
  const auto record = trained(setup);
  CHECK(last(record).samples == 4 * 40 * 16);
  const auto& curve = record.learning->curve;
  REQUIRE(curve.size() == 5);
  for (std::size_t point = 0; point < curve.size(); ++point) {
    const auto expected = union_score(setup, 10 * point);
    CHECK(curve[point].mean.loss == Approx(expected.loss).epsilon(1e-4));
    CHECK(std::abs(*curve[point].mean.accuracy - *expected.accuracy) < 0.01);
    CHECK(curve[point].samples == point * 10 * 4 * 16);
    CHECK(curve[point].consensus_distance < 1e-6);
  }
}

TEST_CASE("training: every policy lowers the loss") {
  for (const auto& policy : all_policies()) {
    CAPTURE(policy.name);
    auto setup = training_setup(policy.name, {}, softmax_plan());
    setup.verify = true;
    const auto record = trained(setup);
    CHECK(last(record).mean.loss < 0.7 * first(record).mean.loss);
    CHECK(last(record).worst->loss < 0.8 * first(record).mean.loss);
    CHECK(last(record).worst->loss >= last(record).replica->loss);
    for (const auto& sync : record.syncs) CHECK(sync.largest_error.value_or(0) < 1e-5);
    CHECK(record.learning->samples_per_worker == std::vector<std::uint64_t>(4, 40 * 16));
  }
}

TEST_CASE("training: averages in the background, and updates after them, lower the loss too") {
  for (const char* policy : {"all-reduce", "static", "random", "smart"}) {
    for (const char* order : {"update_then_average", "average_then_update"}) {
      CAPTURE(policy);
      CAPTURE(order);
      auto options = with("timing", word("background"));
      options.set("order", word(order));
      const auto record = trained(training_setup(policy, options, softmax_plan()));
      CHECK(last(record).mean.loss < 0.7 * first(record).mean.loss);
    }
  }
}

TEST_CASE("training: the mean of the gradients teaches as the mean of the models does") {
  const auto models = trained(training_setup("all-reduce", {}, softmax_plan()));
  const auto gradients =
      trained(training_setup("all-reduce", with("what", word("gradients")), softmax_plan()));
  check_same_curve(models, gradients);
}

TEST_CASE("training: with momentum averaged along, models and gradients teach the same") {
  auto setup = training_setup("all-reduce", with("average_momentum", true), momentum_plan());
  setup.entries *= 2;
  const auto models = trained(setup);
  const auto gradients =
      trained(training_setup("all-reduce", with("what", word("gradients")), momentum_plan()));
  check_same_curve(models, gradients);
}

TEST_CASE("training: a payload larger than the model changes nothing of what is learned") {
  auto options = with("average_momentum", true);
  auto setup = training_setup("all-reduce", options, momentum_plan());
  setup.entries *= 2;
  const auto bare = trained(setup);
  setup.entries = 2 * 5'000;
  check_same_curve(bare, trained(setup));
}

TEST_CASE("training: updates after the average are stale by that average, others are not") {
  const auto before = trained(training_setup("all-reduce", {}, softmax_plan()));
  CHECK(before.learning->effective_staleness == 0);
  const auto after = trained(
      training_setup("all-reduce", with("order", word("average_then_update")), softmax_plan()));
  CHECK(after.learning->effective_staleness == 1);
}

TEST_CASE("training: a synchronous parameter server with momentum is its single process") {
  for (const std::int64_t servers : {1, 2, 3}) {
    CAPTURE(servers);
    const auto setup =
        training_setup("parameter-server", with("servers", servers), momentum_plan());
    const auto record = trained(setup);
    CHECK(last(record).mean.loss == Approx(union_score(setup, 40).loss).epsilon(1e-4));
    CHECK(last(record).samples == 4 * 40 * 16);
    CHECK(record.learning->effective_staleness == 0);
  }
}

TEST_CASE(
    "training: an asynchronous parameter server of one worker is SGD, whatever its momentum") {
  auto options = with("mode", word("async"));
  options.set("servers", std::int64_t{2});
  auto setup = training_setup("parameter-server", options, momentum_plan());
  setup.topology = Topology(1, 1, 2);
  setup.base.resize(1);
  ThreadJob job(3);
  const auto record = job.run(setup);
  CHECK(last(record).mean.loss == Approx(union_score(setup, 40).loss).epsilon(1e-4));
}

TEST_CASE("training: a loss that is not finite ends the run with worker and step, not the job") {
  auto wild = softmax_plan();
  wild->training.model = QuadraticOptions{};
  wild->training.sgd.learning_rate = 1e6;
  ThreadJob job(4);
  auto setup = training_setup("all-reduce", {}, wild);
  const auto diverged = job.run(setup);
  CAPTURE(diverged.failure);
  CHECK(diverged.failure.starts_with("/workload/training: "));
  CHECK(diverged.failure.find("worker ") != std::string::npos);
  CHECK(diverged.failure.find("step ") != std::string::npos);
  CHECK_FALSE(diverged.learning.has_value());
  const auto next = job.run(training_setup("smart", {}, softmax_plan()));
  CHECK(last(next).mean.loss < first(next).mean.loss);
  CHECK(job.end("") == std::set<std::string>{"well"});
}

TEST_CASE("training: the log of a run with training replays") {
  for (const char* policy : {"smart", "ad-psgd", "parameter-server"}) {
    CAPTURE(policy);
    const auto setup = training_setup(policy, {}, softmax_plan());
    ThreadJob job(4 + setup.topology.servers());
    KeptLog log;
    static_cast<void>(job.run(setup, &log));
    CHECK(log.difference(setup) == "");
  }
}

TEST_CASE("training: a run that ends at its time has a curve up to the end") {
  auto plan = softmax_plan();
  plan->measure.every = Time(std::chrono::milliseconds(20));
  plan->measure.replicas = true;
  auto setup = training_setup("ad-psgd", {}, plan);
  setup.steps_per_worker = std::nullopt;
  setup.seconds = std::chrono::milliseconds(200);
  const auto record = trained(setup);
  const auto& curve = record.learning->curve;
  CHECK(curve.size() >= 3);
  CHECK(curve.front().seconds == 0);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    CHECK(curve[i].seconds > curve[i - 1].seconds);
    CHECK(curve[i].samples >= curve[i - 1].samples);
    CHECK(curve[i].worst.has_value());
  }
}

TEST_CASE("training: a copy that a worker took before it heard of the run's end is no point") {
  const auto setup = training_setup("all-reduce", {}, softmax_plan());
  RunRecord record;
  record.elapsed = std::chrono::milliseconds(200);
  const auto part = [](std::int64_t ms, std::uint64_t steps, double loss) {
    return CurvePart{.at = std::chrono::milliseconds(ms), .steps = steps, .mean = Score{loss, {}}};
  };
  std::vector<std::optional<message::Learned>> members(4);
  for (auto& member : members)
    member = message::Learned{
        .curve = {part(1, 0, 4), part(100, 10, 3), part(203, 20, 2), part(205, 21, 1)}};
  const auto curve = learning_of(setup, record, Time{}, members).curve;
  REQUIRE(curve.size() == 3);
  CHECK(curve[1].seconds == doctest::Approx(0.1));
  CHECK(curve[2].seconds == doctest::Approx(0.2));
  CHECK(curve[2].mean.loss == 1);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  members[0]->curve[2].mean->loss = kNaN;  // so that it makes no run fail
  CHECK_NOTHROW((void)learning_of(setup, record, Time{}, members));
  members[0]->curve[1].mean->loss = kNaN;
  members[2]->curve[1].steps = 11;
  CHECK_THROWS_WITH_AS((void)learning_of(setup, record, Time{}, members),
                       doctest::Contains("worker 2, step 10"), InputError);
}

}  // namespace cohort
