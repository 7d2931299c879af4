// A job of ranks as threads of this process, with the group generator's server.
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/job_server.h"
#include "runtime/rank.h"
#include "tests/runtime/thread_transport.h"

namespace cohort {

class ThreadJob {
 public:
  // Returns when all ranks are there. Every run's plan is its setup's, whatever its number.
  explicit ThreadJob(std::uint32_t ranks, const ThreadFabric::Options& options = {});
  ~ThreadJob();  // ends the job, unless end() has

  // On the ranks from 0 on; with training on the setup's plan.
  [[nodiscard]] RunRecord run(const RunSetup& setup, ActionLog* log = nullptr);
  // How the ranks ended: "well", or what the group generator said.
  [[nodiscard]] std::set<std::string> end(const std::string& failure);

  [[nodiscard]] std::deque<ThreadBackend>& backends() { return backends_; }

 private:
  ThreadFabric fabric_;
  JobServer server_;
  std::shared_ptr<const TrainingPlan> plan_;  // set between runs, when no rank looks at it
  std::deque<ThreadBackend> backends_;
  std::vector<std::future<std::string>> ends_;  // until end()
};

}  // namespace cohort
