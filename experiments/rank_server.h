// Rank 0's side of a sweep on the ranks of a launcher: hands rows out over TCP and takes their
// texts back (experiments/rank_meeting.h has the lines).
//
// Started when rank 0 knows its rows; one thread of its own owns sockets and timers. A rank whose
// connection ends gives its rows back to the queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/row_queue.h"
#include "experiments/sweep_plan.h"

namespace cohort {

class RankServer {
 public:
  struct Options {
    std::filesystem::path out;  // of the results: the meeting's file stands there meanwhile
    std::uint32_t ranks = 1;    // of the job, rank 0 included
    bool one_host = false;
    std::uint64_t plan = 0;                       // plan_digest() of every rank
    std::function<void(const std::string&)> log;  // refusals and losses, one line each
  };
  // Keeps the text of a row; called by the server's thread. What it throws ends the sweep.
  using Keep = std::function<void(std::size_t row, std::string text)>;

  // `rows`, by their numbers in the queue, and the queue outlive this. Throws EnvironmentError.
  RankServer(RowQueue& queue, const std::vector<PlannedRow>& rows, Keep keep, Options options);
  ~RankServer();

  // Nothing more to do: tells every rank, and waits until they have gone, in bounded time; also for
  // ranks that have not come yet, until so long after the start.
  void dismiss(std::chrono::milliseconds latest);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same at all ranks whose spec, settings, files and version are the same.
[[nodiscard]] std::uint64_t plan_digest(const std::vector<PlannedRow>& plan);

}  // namespace cohort
