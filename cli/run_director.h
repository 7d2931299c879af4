// Rank 0's other half: the group generator's server and the loop over the rows of a spec.
//
// Constructed by the thread that will take part as a rank; direct() runs on another thread, while
// the first serves, or, with ranks that are processes of their own, on the same.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/run.h"
#include "experiments/experiment.h"
#include "experiments/progress_display.h"
#include "experiments/real_run.h"
#include "runtime/job_server.h"

namespace cohort {

// What the other ranks are told when the user ended the job; when it went well although ranks were
// lost: MPI cannot be left in order, so they end at once.
inline constexpr const char* kJobInterrupted = "the job was interrupted";
inline constexpr const char* kOverWithoutLost = "the job is over, without the ranks that were lost";

class RunDirector {
 public:
  // Checks everything. `arguments` outlives this. Throws as RealRun does.
  RunDirector(const RunArguments& arguments, std::shared_ptr<const Experiment> experiment,
              std::vector<std::string> hosts);

  [[nodiscard]] BackendKind backend() const { return backend_; }
  // Nothing is left to run: direct() needs no server.
  [[nodiscard]] bool finished() const { return run_.finished(); }
  // Throws EnvironmentError.
  void start_server();
  // `absence`: why a rank will not come, as far as its owner can tell; empty: it may. Asked, on a
  // thread of its own, while direct() waits for the ranks.
  void ask_while_waiting(std::function<std::string()> absence) { absence_ = std::move(absence); }
  [[nodiscard]] const JobServer& server() const { return *server_; }

  // Waits for the ranks, runs the rows, ends the job, prints the results. Returns an exit code.
  // Whatever it throws, the job has been ended before.
  [[nodiscard]] int direct();

 private:
  [[nodiscard]] RealRunOptions options();
  [[nodiscard]] RealRunReport run_rows();
  [[nodiscard]] std::vector<RankFacts> await_ranks();
  void end_job(const std::string& failure);
  [[nodiscard]] std::string unfinished(const RealRunReport& report) const;
  [[nodiscard]] int conclude(const RealRunReport& report) const;
  void print_rows(const RealRunReport& report) const;

  const RunArguments& arguments_;
  std::shared_ptr<const Experiment> experiment_;
  std::vector<std::string> hosts_;
  BackendKind backend_;
  ProgressDisplay display_{"runs"};
  RealRun run_;
  std::function<std::string()> absence_;
  std::optional<JobServer> server_;
};

}  // namespace cohort
