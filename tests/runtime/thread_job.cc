#include "tests/runtime/thread_job.h"

#include <numeric>

namespace cohort {

using namespace std::chrono_literals;

ThreadJob::ThreadJob(std::uint32_t ranks, const ThreadFabric::Options& options)
    : fabric_(options), server_({.ranks = ranks, .start_limit = 20s, .log = {}}) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    auto& backend = backends_.emplace_back(fabric_, rank);
    const RankOptions own{server_.address(), server_.secret(), rank, 20s,
                          [this](std::uint32_t) { return plan_; }};
    ends_.push_back(std::async(std::launch::async, [own, &backend]() -> std::string {
      try {
        serve_as_rank(own, backend);
        return "well";
      } catch (const JobFailed& error) {
        return error.what();
      }
    }));
  }
  static_cast<void>(server_.await_ranks());
}

ThreadJob::~ThreadJob() {
  if (!ends_.empty()) server_.end("");
}

RunRecord ThreadJob::run(const RunSetup& setup, ActionLog* log) {
  plan_ = setup.training;
  std::vector<std::uint32_t> ranks(setup.topology.workers() + setup.topology.servers());
  std::iota(ranks.begin(), ranks.end(), 0U);
  return server_.run(setup, ranks, log);
}

std::set<std::string> ThreadJob::end(const std::string& failure) {
  server_.end(failure);
  std::set<std::string> found;
  for (auto& end : ends_) found.insert(end.get());
  ends_.clear();
  return found;
}

}  // namespace cohort
