// Ranks on this machine without a launcher: starts N copies of a command and outlives them.
//
// Every rank gets COHORT_SERVER (address:port), COHORT_SECRET (hex), COHORT_RANK, COHORT_LOCAL_RANK
// in its environment and dies with this process, however that ends (parent-death signal). Owned by
// the process that runs the group generator.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/messages.h"

namespace cohort {

class LocalRanks {
 public:
  // Throws EnvironmentError when a process cannot be started (those started are ended).
  LocalRanks(const std::vector<std::string>& command, std::uint32_t ranks,
             const std::string& server, const Secret& secret);
  // Ends what still runs: SIGTERM, then SIGKILL after `grace`; reaps all.
  ~LocalRanks();

  // The sentence of the first rank that has ended; empty: all run. Not beside join().
  [[nodiscard]] std::string first_end();

  // Waits until all have ended, at most `limit`; what still runs then is ended as by the
  // destructor. A sentence for each rank that ended otherwise than with exit code 0.
  [[nodiscard]] std::vector<std::string> join(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
