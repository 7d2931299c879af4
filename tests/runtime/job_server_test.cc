#include "runtime/job_server.h"

#include <doctest/doctest.h>

#include <deque>
#include <thread>

#include "policies/errors.h"
#include "tests/runtime/fake_rank.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

RunSetup setup_of(const std::string& policy, std::uint32_t workers, std::uint64_t steps) {
  RunSetup setup;
  setup.policy = find_policy(policy);
  setup.options = resolve(*setup.policy, {});
  setup.topology = Topology(1, workers, servers_needed(*setup.policy, setup.options));
  setup.base.assign(workers, 1ms);
  setup.entries = 16;
  setup.steps_per_worker = steps;
  return setup;
}

std::vector<std::uint32_t> ranks_of(const RunSetup& setup) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t i = 0; i < setup.topology.workers() + setup.topology.servers(); ++i)
    ranks.push_back(i);
  return ranks;
}

// A server with its fake ranks, and what it logged.
struct Job {
  explicit Job(std::uint32_t ranks)
      : server({.ranks = ranks, .start_limit = 10s, .log = [this](const std::string& line) {
                  const std::lock_guard lock(mutex);
                  lines.push_back(line);
                }}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) this->ranks.emplace_back(server, rank);
    (void)server.await_ranks();
  }
  std::vector<std::string> logged() {
    const std::lock_guard lock(mutex);
    return lines;
  }

  std::mutex mutex;
  std::vector<std::string> lines;
  JobServer server;
  std::deque<FakeRank> ranks;
};

}  // namespace

TEST_CASE("job server: a run of every policy comes to its quota over real connections") {
  for (const auto& policy : all_policies()) {
    CAPTURE(policy.name);
    const auto setup = setup_of(policy.name, 4, 20);
    Job job(static_cast<std::uint32_t>(ranks_of(setup).size()));
    const auto record = job.server.run(setup, ranks_of(setup), nullptr);
    CHECK(record.failure == "");
    CHECK(record.steps.size() == 80);
    job.server.end("");
    CHECK(job.ranks[0].job_failure.take() == "");
  }
}

}  // namespace cohort
