// Reads the event/action logs that traces/run_log.h writes, one line after the other: a log may be
// larger than memory.
//
// A log is a head per run, {"run": {...}}, each followed by the run's events. What stands in the
// head is the business of who makes the policy again (experiments/replay.h). Everything else is
// checked here: unknown, missing or doubtful values are an InputError with file and line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "policies/policy.h"
#include "traces/text_file.h"

namespace cohort {

class RunLogReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{256} << 20;

  // Throws InputError when the file cannot be read.
  explicit RunLogReader(std::filesystem::path file);

  enum class Line : std::uint8_t { Head, Event, End };
  // Throws InputError.
  [[nodiscard]] Line next();

  // Of the last line; valid until next().
  [[nodiscard]] const std::string& head() const { return head_; }  // the line as it stands
  [[nodiscard]] const Event& event() const { return event_; }
  [[nodiscard]] const Actions& actions() const { return actions_; }
  [[nodiscard]] std::size_t line() const { return lines_.number(); }
  // "FILE:LINE", for complaints.
  [[nodiscard]] std::string place() const;

 private:
  std::filesystem::path path_;
  LineReader lines_;
  std::string head_;
  Event event_;
  Actions actions_;
  std::vector<double> squared_distances_;
};

}  // namespace cohort
