// Whole jobs over the stand-in: the group generator here, its ranks as processes.
#include <doctest/doctest.h>

#include <chrono>

#include "tests/runtime/nccl/process_job.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kWorkers = 4;

RunSetup setup_of(const std::string& policy) {
  RunSetup setup;
  setup.policy = find_policy(policy);
  setup.options = resolve(*setup.policy, {});
  setup.topology = Topology(2, 2, servers_needed(*setup.policy, setup.options));
  setup.base.assign(kWorkers, 2ms);
  setup.stragglers = {{Lognormal{0.3}}};
  setup.entries = 10'000;
  setup.steps_per_worker = 8;
  setup.verify = true;
  return setup;
}

void check_complete(const RunRecord& record, const RunSetup& setup) {
  CHECK(record.failure == "");
  CHECK(record.steps.size() == kWorkers * *setup.steps_per_worker);
  for (const auto& sync : record.syncs) {
    CHECK_FALSE(sync.failed);
    CHECK(sync.largest_error.value_or(0) < 1e-5);
  }
}

}  // namespace

TEST_CASE("nccl jobs: every policy comes to its quota, and every mean is right") {
  for (const auto& policy : all_policies()) {
    CAPTURE(policy.name);
    const auto setup = setup_of(policy.name);
    const auto outcome = run_job(setup);
    CHECK(outcome.complaints == "");
    check_complete(outcome.records.front(), setup);
  }
}

TEST_CASE("nccl jobs: with a small cache communicators come and go, and every mean is right") {
  auto setup = setup_of("smart");
  setup.communicator_cache = 2;
  setup.steps_per_worker = 30;
  const auto outcome = run_job(setup);
  CHECK(outcome.complaints == "");
  check_complete(outcome.records.front(), setup);
}

TEST_CASE("nccl jobs: runs follow each other on the same ranks") {
  const auto setup = setup_of("random");
  const auto outcome = run_job(setup, 3);
  CHECK(outcome.complaints == "");
  for (const auto& record : outcome.records) check_complete(record, setup);
}

TEST_CASE("nccl jobs: a rank that dies inside a group mean ends the job with its name") {
  const auto outcome =
      run_job(setup_of("all-reduce"), 1, {{"COHORT_STAND_IN_FAIL", "2:ncclAllReduce:3:die"}});
  CHECK(outcome.records.front().failure.find("rank 2") != std::string::npos);
  CHECK(outcome.complaints.find("rank 2: ended by signal 9") != std::string::npos);
}

TEST_CASE("nccl jobs: told to go on, the others rebuild their communicators without the dead") {
  auto setup = setup_of("smart");
  setup.on_loss = OnLoss::Continue;
  setup.steps_per_worker = 30;
  const auto outcome = run_job(setup, 1, {{"COHORT_STAND_IN_FAIL", "2:ncclAllReduce:5:die"}});
  const auto& record = outcome.records.front();
  CHECK(record.failure == "");
  CHECK(record.lost.size() == 1);
  CHECK(record.steps.size() >= 3 * *setup.steps_per_worker);
  CHECK(outcome.complaints == "rank 2: ended by signal 9\n");
}

TEST_CASE("nccl jobs: an error of the library with all alive ends the job, rank and group named") {
  const auto outcome =
      run_job(setup_of("all-reduce"), 1, {{"COHORT_STAND_IN_FAIL", "1:ncclAllReduce:3:async"}});
  const auto& failure = outcome.records.front().failure;
  CHECK(failure.find("communicator 0 of ranks 0, 1, 2, 3: ") != std::string::npos);
  CHECK(failure.find("on rank 1, GPU 0000:01:00.0") != std::string::npos);
}

}  // namespace cohort
