// The event log of one run, in a file of its own until the logs of all runs are joined.
#pragma once

#include <filesystem>
#include <fstream>
#include <vector>

#include "experiments/cell.h"
#include "sim/scenario.h"
#include "sim/timeline.h"
#include "traces/run_log.h"

namespace cohort {

// Writes a head, {"run": {kind, label, options, seed, gpus_per_node, servers}}, then every event.
// Lives as long as the run that it is handed to.
class Recorder {
 public:
  // Throws EnvironmentError.
  Recorder(std::filesystem::path file, const Scenario& scenario);

  [[nodiscard]] ActionLog* log() { return &log_; }
  // Flushes. Throws EnvironmentError when the disk is full.
  void finish();

 private:
  std::filesystem::path file_;
  std::ofstream events_;
  RunLog log_;
};

// Throws EnvironmentError.
void write_timeline(const std::filesystem::path& file, const Timeline& timeline,
                    const Scenario& scenario);

// Puts the contents of `parts`, one after the other, into `file`. Throws EnvironmentError.
void join_files(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& file);

}  // namespace cohort
