// Runs the base cell of a spec: every policy and seed, its sweep left aside. With a directory, also
// records events and timelines.
//
//   events.jsonl    per run one line {"run": {policy, label, seed, options, topology}}, then its
//   log (traces/run_log.h) timeline.json   of the first run; timeline-2.json of the second row, and
//   so on (sim/timeline.h)
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace cohort {

struct BaseRunOptions {
  std::optional<std::filesystem::path> out;
  bool timeline = false;  // needs `out`
  unsigned jobs = 1;
  const std::atomic<bool>* stop = nullptr;  // may be null
  std::function<void(std::size_t finished, std::size_t total)> progress;
};

struct BaseRunReport {
  std::vector<std::string> rows;  // JSON objects, in canonical order; empty when stopped
  std::size_t failed = 0;
  bool stopped = false;
};

// "timeline.json", "timeline-2.json", ... by the number of the row, from 0.
[[nodiscard]] std::string timeline_name(std::size_t row);

// Throws as run_sweep does.
[[nodiscard]] BaseRunReport run_base(const Experiment& experiment, const BaseRunOptions& options);

}  // namespace cohort
