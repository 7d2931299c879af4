// Runs the rows of a spec for real, one after the other on one job of ranks, and publishes them as
// a sweep does: finished rows go to the journal, a finished directory is left alone, an interrupted
// one is resumed, a spec that only grows computes what is new.
//
// Besides what a sweep writes:
//   events.jsonl      the logs of all rows, joined (traces/run_log.h)
//   events/KEY.jsonl  the log of each row; kept, so that a resumed directory can join them again
//   steps/KEY.csv     the steps of each row (experiments/real_row.h)
//   timeline*.json    where asked for, as `simulate` names them
//   manifest.json     under "run": backend, hosts, ranks, their processor time, whose KEY is which
// Knows no socket and no MPI: who starts the job hands in how a run is carried out.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "policies/checked_policy.h"
#include "runtime/run_record.h"
#include "runtime/run_setup.h"

namespace cohort {

// Carries out one run on these ranks of the job, one per member; `log` may be null.
using CarryOut = std::function<RunRecord(const RunSetup& setup,
                                         const std::vector<std::uint32_t>& ranks, ActionLog* log)>;

struct RealRunOptions {
  std::vector<std::string> hosts;  // of every rank of the job
  BackendKind backend = BackendKind::Mpi;
  OnLoss on_loss = OnLoss::Fail;
  bool verify = false;
  std::optional<std::filesystem::path> out;
  bool timeline = false;                    // needs `out`
  const std::atomic<bool>* stop = nullptr;  // may be null
  std::function<void(std::size_t finished, std::size_t total)> progress{};
  std::function<void(const std::string&)> warn{};  // one line each: machines, losses
};

struct RealRunReport {
  std::vector<std::vector<std::string>>
      cells;  // rows by cell, settings in front; all, when finished
  std::size_t rows = 0;
  std::size_t finished = 0;
  std::size_t computed = 0;
  std::size_t failed = 0;
  bool published = false;
  bool stopped = false;            // by the user: the same command resumes
  std::string broken;              // why a lost rank ended the job before all rows were run
  std::vector<std::string> lost;   // sentences on lost ranks
  std::size_t means_verified = 0;  // with `verify`
  double largest_error = 0;
};

// Ranks that a job for the spec has: its workers, and servers for the policy with most of them.
struct RanksNeeded {
  std::uint32_t workers = 0;
  std::uint32_t servers = 0;
  [[nodiscard]] std::uint32_t total() const { return workers + servers; }
};
// Checks every cell (check_runnable). Throws InputError with file and place, also when cells have
// different numbers of workers.
[[nodiscard]] RanksNeeded ranks_needed(const Experiment& experiment);

// The plan of the rows whose RunSetup::plan is `number`; null: they do not train. For ranks, each
// of which makes it from the spec itself. May be called from several threads at once.
[[nodiscard]] std::shared_ptr<const TrainingPlan> training_plan(const Experiment& experiment,
                                                                std::uint32_t number);

class RealRun {
 public:
  // Checks the number of ranks and everything else, and opens the directory. `experiment` outlives
  // this. Throws InputError, EnvironmentError.
  RealRun(const Experiment& experiment, RealRunOptions options);
  ~RealRun();

  // Whether there is nothing left to run: no job is needed to publish.
  [[nodiscard]] bool finished() const;
  // Runs what is missing, then publishes. Throws EnvironmentError when the disk fails.
  [[nodiscard]] RealRunReport run(const CarryOut& carry_out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
