// Runs the rows of a spec that a result directory does not hold yet, and publishes the results when
// all are there.
//
// results.jsonl and results.csv depend on the spec alone: not on jobs, ranks, interruptions, or the
// order in which rows were asked for over time. Wall times stand in manifest.json.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "experiments/experiment.h"
#include "experiments/launched_rank.h"

namespace cohort {

struct SweepOptions {
  std::filesystem::path out;
  unsigned jobs = 1;
  const std::atomic<bool>* stop = nullptr;  // true: rows in progress are abandoned; may be null
  // Called about ten times a second by the calling thread: rows finished in all, rows of the spec.
  std::function<void(std::size_t finished, std::size_t total)> progress;
  // Rank 0 of a launcher's job: the other ranks help (experiments/rank_helper.h), and `log` is told
  // of refusals and losses, one line each.
  std::optional<LaunchedRank> launched = std::nullopt;
  std::function<void(const std::string&)> log = {};
};

struct SweepReport {
  std::size_t rows = 0;      // of the spec
  std::size_t computed = 0;  // by this call
  std::size_t finished = 0;  // in the directory now
  std::size_t failed = 0;    // rows with an error
  std::size_t damaged = 0;   // lines of the journal that could not be read
  bool published = false;    // files of results changed
};

// Throws InputError when the directory holds rows of another spec (nothing is changed),
// EnvironmentError when the disk or the directory fails (finished rows stay in the journal).
[[nodiscard]] SweepReport run_sweep(const Experiment& experiment, const SweepOptions& options);

}  // namespace cohort
