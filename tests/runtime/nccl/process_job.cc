#include "tests/runtime/nccl/process_job.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "runtime/rank.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

// Address and secret, as one note.
std::vector<std::uint8_t> note_of(const JobServer& server) {
  const auto& secret = server.secret();
  const auto address = server.address();
  std::vector<std::uint8_t> note(secret.begin(), secret.end());
  note.insert(note.end(), address.begin(), address.end());
  return note;
}

void serve(const Rank& rank, const std::shared_ptr<const TrainingPlan>& plan) {
  const auto note = rank.board.read(0);
  RankOptions options;
  options.rank = rank.rank;
  options.plans = [&plan](std::uint32_t) { return plan; };
  std::copy_n(note.begin(), options.secret.size(), options.secret.begin());
  options.server.assign(note.begin() + static_cast<std::ptrdiff_t>(options.secret.size()),
                        note.end());
  serve_as_rank(options, rank.backend);
}

}  // namespace

JobOutcome run_job(const Job& job, const RunSetup& setup, int runs) {
  JobOutcome outcome;
  auto own = job;
  own.ranks = setup.topology.workers() + setup.topology.servers();
  const auto direct = [&](Blackboard& board) {
    JobServer server({.ranks = own.ranks, .start_limit = 60s, .log = {}});
    board.write(0, note_of(server));
    static_cast<void>(server.await_ranks());
    std::vector<std::uint32_t> ranks(own.ranks);
    std::iota(ranks.begin(), ranks.end(), 0U);
    for (int run = 0; run < runs; ++run)
      outcome.records.push_back(server.run(setup, ranks, nullptr));
    server.end(outcome.records.back().failure);
  };
  Blackboard board;
  outcome.complaints = run_ranks(
      own, board, [&](const Rank& rank) { serve(rank, setup.training); }, direct);
  return outcome;
}

JobOutcome run_job(const RunSetup& setup, int runs, const Environment& environment) {
  return run_job({.environment = environment, .module = stand_in_module()}, setup, runs);
}

}  // namespace cohort
