// Files of one recorded run, in parts beside the final files until all runs are done.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>

#include "experiments/cell.h"
#include "sim/scenario.h"
#include "sim/timeline.h"
#include "traces/run_log.h"

namespace cohort {

// Records one run. Lives as long as the simulation that it is handed to.
class Recorder {
 public:
  // `number`: of the row, from 0. Throws EnvironmentError.
  Recorder(const std::filesystem::path& directory, std::size_t number, const Scenario& scenario,
           bool timeline);

  [[nodiscard]] SimulateOptions options();
  // Flushes, and writes the timeline. Throws EnvironmentError when the disk is full.
  void finish(const Scenario& scenario);

 private:
  std::filesystem::path directory_;
  std::size_t number_;
  std::filesystem::path events_path_;
  std::ofstream events_;
  RunLog log_;
  std::optional<Timeline> timeline_;
};

// Joins the parts of `count` runs into events.jsonl and removes them.
void join_events(const std::filesystem::path& directory, std::size_t count);
// Removes the parts that an unfinished recording leaves.
void remove_parts(const std::filesystem::path& directory, std::size_t count);

}  // namespace cohort
