// Ranks as processes, each with the nccl backend on the stand-in, for tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace cohort {

using Environment = std::map<std::string, std::string>;

// What the processes of one test share: unique ids by number, and how far they all are.
class Blackboard {
 public:
  static constexpr std::size_t kPlaces = 4096;

  Blackboard();
  ~Blackboard();
  Blackboard(const Blackboard&) = delete;
  Blackboard& operator=(const Blackboard&) = delete;

  // Written once by one process, read by others, who wait for it.
  void write(std::size_t place, const std::vector<std::uint8_t>& bytes);
  [[nodiscard]] std::vector<std::uint8_t> read(std::size_t place) const;

 private:
  struct Note;
  Note* notes_ = nullptr;
};

struct Rank {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  Backend& backend;
  Blackboard& board;

  [[nodiscard]] Transport& transport() const { return backend.transport(); }
  [[nodiscard]] VectorUnit& vectors() const { return backend.vectors(); }
  // Members: any ranks with this one, in one order at all. `place` of the blackboard: unused yet.
  [[nodiscard]] std::unique_ptr<Request> create(std::uint32_t id, std::size_t place,
                                                const std::vector<std::uint32_t>& members) const;
  void connect_all(std::size_t place) const;
};

struct Job {
  std::uint32_t ranks = 1;
  Environment environment = {};  // set on top of COHORT_RANK
  std::string module;            // of the backend
  bool share_gpus = false;
};

// Forks processes that run `body` with a backend of their own. A line for each that did not end
// well: what it threw, or how it was ended; "" when all did. `meanwhile` runs here after the forks.
// The rest of the ranks are killed when it takes longer than a minute (times the sanitizers').
[[nodiscard]] std::string run_ranks(const Job& job, Blackboard& board,
                                    const std::function<void(const Rank&)>& body,
                                    const std::function<void(Blackboard&)>& meanwhile = nullptr);
// On the stand-in, with a blackboard of their own.
[[nodiscard]] std::string run_ranks(std::uint32_t ranks,
                                    const std::function<void(const Rank&)>& body,
                                    const Environment& environment = {},
                                    const std::function<void(Blackboard&)>& meanwhile = nullptr);

// Throws std::runtime_error. For bodies, whose process has no doctest.
void require(bool holds, const std::string& what);

// Polls with naps until over, at most `seconds`.
void finish(Request& request, int seconds = 30);

// The message of the SyncFailure that finish() ends with.
[[nodiscard]] std::string failure_of(Request& request, int seconds = 30);

// The module that is built of the backend's sources and the stand-in.
[[nodiscard]] std::string stand_in_module();

}  // namespace cohort
