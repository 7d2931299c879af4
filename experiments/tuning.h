// `measure.tune`: the learning rate and momentum with which a policy trains best in a cell, found
// in virtual time by successive halving ([Jamieson 2016]): all candidates run for a quarter of the
// budget, the better half of them for a half, the better half of those for all of it; the search
// ends as soon as one is left. Every policy gets the same candidates and budget.
//
// The better one reaches the target loss earlier, if there is one, or else has the lower loss in
// the end; one that diverges is the worst. All runs are on a seed of their own, so what is found
// depends on the cell and the policy alone: seeds share it, and whoever computes it again finds the
// same.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/cell.h"
#include "experiments/row_run.h"

namespace cohort {

inline constexpr std::uint64_t kTuningSeed = 0x74756e65;

struct Candidate {
  Rates rates;
  // Of its longest run:
  std::uint64_t worker_steps = 0;
  std::optional<double> loss{};  // in the end; null: it diverged
  std::uint64_t samples = 0;
  std::optional<double> seconds_to_loss{};  // null: not reached, or no target
  std::string error{};                      // why it diverged
};

struct Tuning {
  std::vector<Candidate> candidates;  // by learning rate, then momentum, as in the spec
  std::optional<std::size_t> best;    // null: all diverged
};

// What a candidate runs.
[[nodiscard]] Scenario tuning_scenario(const Cell& cell, const PolicyChoice& policy,
                                       const Rates& rates, std::uint64_t worker_steps);

// The tunings of one experiment, each computed once. Threads that need the same one share its
// candidates out.
class Tunings {
 public:
  Tunings();
  ~Tunings();

  struct Caller {
    const std::atomic<bool>* stop = nullptr;  // as for run_row
    unsigned threads = 1;                     // of each simulation
  };
  // The row's scenario, with the best rates where the cell has a TuneSpec. `number` names the cell.
  // Throws Interrupted.
  [[nodiscard]] RowScenario scenario(const Cell& cell, std::uint32_t number, std::uint32_t policy,
                                     std::uint64_t seed, const Caller& caller);

 private:
  class Search;
  [[nodiscard]] std::shared_ptr<Search> search(const Cell& cell, std::uint32_t number,
                                               std::uint32_t policy);

  std::mutex mutex_;  // guards the map
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<Search>> searches_;
};

}  // namespace cohort
