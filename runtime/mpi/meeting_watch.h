// Ends a process that waits inside MPI, as the job begins or as it ends, for a rank that does not
// come: MPI would wait for ever. Says which rank it is, as far as ranks of one host can know of
// each other: each leaves a mark in the launcher's folder for this job, which the launcher removes
// at its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "runtime/watchdog.h"

namespace cohort {

class MeetingWatch {
 public:
  enum class Stage : std::uint8_t { Start, End };

  // This rank is there, and waits for the others from now on; once `limit` is over: a message and
  // exit code 3. The variables of the environment are Open MPI's and Slurm's; without them nobody
  // is named.
  MeetingWatch(Stage stage, std::chrono::milliseconds limit);
  ~MeetingWatch();  // all are there

 private:
  [[nodiscard]] std::string complaint() const;
  [[nodiscard]] std::filesystem::path mark(std::uint32_t local_rank) const;
  [[nodiscard]] bool stopped(std::uint32_t local_rank) const;

  Stage stage_;
  std::chrono::milliseconds limit_;
  std::filesystem::path folder_;  // empty: none
  std::uint32_t own_ = 0;         // number among the ranks of this host
  std::uint32_t here_ = 0;        // ranks of this host
  std::uint32_t everywhere_ = 0;
  Watchdog watchdog_;  // last: uses the others
};

}  // namespace cohort
