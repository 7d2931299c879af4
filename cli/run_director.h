// Rank 0's other half: the group generator's server and the loop over the rows of a spec.
//
// Constructed by the thread that will take part as a rank; direct() runs on another thread, while
// the first serves, or, with ranks that are processes of their own, on the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
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
  [[nodiscard]] const JobServer& server() const { return *server_; }

  // Waits for the ranks, runs the rows, ends the job, prints the results. Returns an exit code.
  // Whatever it throws, the job has been ended before.
  [[nodiscard]] int direct();

 private:
  [[nodiscard]] RealRunOptions options();
  [[nodiscard]] RealRunReport run_rows();
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
  std::optional<JobServer> server_;
};

}  // namespace cohort
