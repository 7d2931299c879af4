// Feeds recorded event logs to fresh policies: "written once" proved on a log, simulated or real.
//
// A log is that of one result directory (events.jsonl: one head and its events per run). The policy
// is made from the head's kind, options, seed and topology; every event must be answered by exactly
// the recorded actions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

struct ReplayDifference {
  std::size_t line = 0;
  std::string event;     // JSON, as everything below
  std::string recorded;  // list of actions
  std::string repeated;
};

struct ReplayedRun {
  std::string label;
  std::uint64_t seed = 0;
  std::uint64_t events = 0;  // fed, the differing one included
  std::uint64_t actions = 0;
  std::optional<ReplayDifference> difference;  // the first; the rest of the run is left aside
};

// `path`: a result directory or a log. Memory does not grow with the length of a run. Throws
// InputError with file and line when the log is damaged, truncated, or its events cannot have
// happened in this order.
[[nodiscard]] std::vector<ReplayedRun> replay(const std::filesystem::path& path);

}  // namespace cohort
