// Training through the whole nccl backend, on the test double: held against ranks that are threads
// and train on the host, and against one process.
#include <doctest/doctest.h>

#include "tests/runtime/nccl/device_comparison.h"
#include "tests/runtime/nccl/process_job.h"
#include "tests/runtime/thread_job.h"
#include "tests/runtime/training_job.h"

namespace cohort {
namespace {

using doctest::Approx;

RunRecord trained(const RunSetup& setup) {
  auto outcome = run_job(setup);
  CHECK(outcome.complaints == "");
  return std::move(outcome.records.front());
}

RunRecord trained_on_host(const RunSetup& setup) {
  ThreadJob job(4 + setup.topology.servers());
  auto record = job.run(setup);
  CHECK(job.end("") == std::set<std::string>{"well"});
  return record;
}

void check_as_on_host(const RunSetup& setup) {
  const auto device = trained(setup);
  const auto host = trained_on_host(setup);
  REQUIRE(last(device).samples == last(host).samples);
  const auto& curve = device.learning->curve;
  REQUIRE(curve.size() == host.learning->curve.size());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    CHECK(curve[i].mean.loss == Approx(host.learning->curve[i].mean.loss).epsilon(1e-5));
    CHECK(curve[i].mean.accuracy == host.learning->curve[i].mean.accuracy);
  }
}

}  // namespace

TEST_CASE("nccl training: all-reduce on four ranks learns each model as ranks on the host do") {
  for (const auto& [name, plan] : small_plans()) {
    CAPTURE(name);
    auto own = std::make_shared<TrainingPlan>(plan);
    own->measure.every = std::uint64_t{20};
    auto setup = training_setup("all-reduce", {}, own);
    setup.entries = parameters_of(plan);
    setup.steps_per_worker = 10;
    check_as_on_host(setup);
  }
}

TEST_CASE(
    "nccl training: with gradients averaged, and updates after the average, it is the host's") {
  check_as_on_host(training_setup("all-reduce", with("what", word("gradients")), softmax_plan()));
  check_as_on_host(
      training_setup("all-reduce", with("order", word("average_then_update")), softmax_plan()));
}

TEST_CASE("nccl training: with momentum averaged along, and a payload above the model's") {
  auto setup = training_setup("all-reduce", with("average_momentum", true), momentum_plan());
  setup.entries = 2 * 5'000;
  check_as_on_host(setup);
}

TEST_CASE("nccl training: a synchronous parameter server with momentum is its single process") {
  const auto setup =
      training_setup("parameter-server", with("servers", std::int64_t{2}), momentum_plan());
  const auto record = trained(setup);
  CHECK(last(record).mean.loss == Approx(union_score(setup, 40).loss).epsilon(1e-4));
}

TEST_CASE("nccl training: every policy lowers the loss, and every mean is right") {
  for (const auto& policy : all_policies()) {
    CAPTURE(policy.name);
    auto setup = training_setup(policy.name, {}, softmax_plan());
    setup.verify = true;
    const auto record = trained(setup);
    CHECK(last(record).mean.loss < 0.7 * first(record).mean.loss);
    for (const auto& sync : record.syncs) CHECK(sync.largest_error.value_or(0) < 1e-5);
  }
}

TEST_CASE("nccl training: a loss that is not finite ends the run with worker and step") {
  auto wild = softmax_plan();
  wild->training.model = QuadraticOptions{};
  wild->training.sgd.learning_rate = 1e6;
  const auto outcome = run_job(training_setup("all-reduce", {}, wild));
  const auto& failure = outcome.records.front().failure;
  CHECK(failure.starts_with("/workload/training: "));
  CHECK(failure.find("worker ") != std::string::npos);
  CHECK(failure.find("step ") != std::string::npos);
}

}  // namespace cohort
