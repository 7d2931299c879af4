#include <doctest/doctest.h>

#include <cstring>
#include <optional>
#include <thread>

#include "runtime/job_server.h"
#include "runtime/rank.h"
#include "tests/runtime/mpi/under_mpi.h"
#include "tests/runtime/training_job.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

RunSetup emulated(const PolicyEntry& policy) {
  RunSetup setup;
  setup.policy = &policy;
  setup.options = resolve(policy, {});
  const auto servers = servers_needed(policy, setup.options);
  setup.topology = Topology(1, 4, servers);
  setup.base.assign(4, 2ms);
  setup.stragglers = {{Bernoulli{0.25, 3}}, {Lognormal{0.1}}};
  setup.entries = 50'000;
  setup.steps_per_worker = 10;
  setup.verify = true;
  return setup;
}

// What a rank needs to reach rank 0's server, as one text.
std::string contact(const JobServer& server) {
  std::string text(server.secret().begin(), server.secret().end());
  return text + server.address();
}

RankOptions reach(const std::string& contact) {
  RankOptions options;
  std::memcpy(options.secret.data(), contact.data(), options.secret.size());
  options.server = contact.substr(options.secret.size());
  options.rank = mpi_job().rank();
  return options;
}

// The group generator's side, beside the ranks' on rank 0.
std::vector<RunRecord> drive(JobServer& server, const std::vector<RunSetup>& setups) {
  std::vector<RunRecord> records;
  static_cast<void>(server.await_ranks());
  for (const auto& setup : setups) {
    std::vector<std::uint32_t> ranks(setup.topology.workers() + setup.topology.servers());
    for (std::uint32_t i = 0; i < ranks.size(); ++i) ranks[i] = i;
    records.push_back(server.run(setup, ranks, nullptr));
  }
  server.end("");
  return records;
}

// The records, on rank 0. Plans are asked for by the number of the setup.
std::vector<RunRecord> run_job(std::vector<RunSetup> setups) {
  for (std::uint32_t i = 0; i < setups.size(); ++i) setups[i].plan = i;
  std::optional<JobServer> server;
  if (mpi_job().rank() == 0) {
    server.emplace(JobServer::Options{.ranks = mpi_job().size(), .start_limit = 20s, .log = {}});
  }
  auto options = reach(mpi_job().broadcast(server ? contact(*server) : ""));
  options.plans = [&setups](std::uint32_t number) { return setups[number].training; };
  std::vector<RunRecord> records;
  std::thread driver;
  if (server) driver = std::thread([&] { records = drive(*server, setups); });
  serve_as_rank(options, mpi_job().backend());
  if (driver.joinable()) driver.join();
  return records;
}

}  // namespace

TEST_CASE("mpi job: all policies, one run after the other, come to their quota with right means") {
  std::vector<RunSetup> setups;
  for (const auto& policy : all_policies()) setups.push_back(emulated(policy));
  const auto records = run_job(setups);
  for (std::size_t i = 0; i < records.size(); ++i) {
    CAPTURE(setups[i].policy->name);
    CHECK(records[i].failure == "");
    CHECK(records[i].steps.size() == 40);
    for (const auto& sync : records[i].syncs) {
      CHECK_FALSE(sync.failed);
      CHECK(sync.largest_error.value_or(0) < 1e-5);
    }
  }
}

TEST_CASE("mpi job: every policy trains, also after a run that diverged") {
  auto wild = softmax_plan();
  wild->training.model = QuadraticOptions{};
  wild->training.sgd.learning_rate = 1e6;
  std::vector<RunSetup> setups{training_setup("all-reduce", {}, wild)};
  for (const auto& policy : all_policies()) {
    setups.push_back(training_setup(policy.name, {}, softmax_plan()));
    setups.back().verify = true;
  }
  const auto records = run_job(setups);
  if (records.empty()) return;  // rank 0 alone has them
  CHECK(records.front().failure.starts_with("/workload/training: "));
  for (std::size_t i = 1; i < records.size(); ++i) {
    CAPTURE(setups[i].policy->name);
    CHECK(last(records[i]).mean.loss < 0.7 * first(records[i]).mean.loss);
    for (const auto& sync : records[i].syncs) CHECK(sync.largest_error.value_or(0) < 1e-5);
  }
}

TEST_CASE("mpi job: all-reduce with training is SGD of one process on the batches of all") {
  const auto setup = training_setup("all-reduce", {}, softmax_plan());
  const auto records = run_job({setup});
  if (records.empty()) return;
  CHECK(last(records.front()).mean.loss ==
        doctest::Approx(union_score(setup, 40).loss).epsilon(1e-4));
}

}  // namespace cohort
