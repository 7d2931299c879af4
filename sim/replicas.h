// The parameters of all workers, and what synchronisations make of them ([SEMANTICS 1 and 2]).
//
// A member gives its weight times: a blocking or passive one its parameters, a background one the
// snapshot taken at its ready, members of a neighbour mix what they published at their ready of the
// start's step. At the end, at once: blocking and passive members, and the reader of a mix, have
// the weighted mean; background members add mean - snapshot; forwarders and sources keep theirs.
// With equal weights, or doubly stochastic ones over all readers, the mean of all parameters is
// kept.
//
// Rows (training/shared_rows.h) may hold more than parameters: an optimiser's velocity that is to
// be averaged by the same rules lies behind them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "policies/synchronisation.h"
#include "training/averages.h"
#include "training/shared_rows.h"

namespace cohort {

template <typename T>
class Replicas {
 public:
  struct Options {
    std::uint32_t workers = 1;
    std::size_t parameters = 0;  // of a row's numbers, the first; for distances
    bool publish = false;        // keep the rows of the last two readies, for neighbour mixes
    bool keep_ready = false;     // keep that of the last ready, for a snapshot asked for later
  };
  // A replica as a gradient reads it.
  struct Version {
    Row<T> row{};
    std::uint64_t changes = 0;  // by averages so far
  };

  // All workers begin with `initial`.
  Replicas(const Options& options, RowPool<T>& rows, const Row<T>& initial);

  [[nodiscard]] const Row<T>& of(WorkerId worker) const { return workers_[index(worker)].now.row; }
  [[nodiscard]] const Version& now(WorkerId worker) const { return workers_[index(worker)].now; }
  // The worker's own doing: its update, or what it pulled.
  void set(WorkerId worker, Row<T> row) { workers_[index(worker)].now.row = std::move(row); }

  // The worker is at its sync point after `step`.
  void ready(WorkerId worker, std::uint64_t step);
  // Takes the snapshot: of the parameters as they are; or, with keep_ready and once for a ready, as
  // they were at the last one, and returns it.
  void snapshot(WorkerId worker);
  const Version& snapshot_of_ready(WorkerId worker);

  // A synchronisation is done. Returns each member's squared distance from the mean, in the order
  // of `members`; valid until the next call.
  std::span<const double> synchronise(SyncKind kind, std::uint64_t step,
                                      std::span<const Member> members);
  // The worker is lost: nobody will ask for it again.
  void forget(WorkerId worker) { workers_[index(worker)] = {}; }

 private:
  struct Worker {
    Version now{}, at_ready{}, snapshot{};
    std::array<Row<T>, 2> published{};  // of even and odd steps
  };

  [[nodiscard]] const Row<T>& contribution(SyncKind kind, std::uint64_t step,
                                           const Member& member) const;
  [[nodiscard]] Row<T> room_for_mean(std::span<const Member> members);
  void take_over(const Member& member, const Row<T>& mean);

  Options options_;
  RowPool<T>& rows_;
  std::vector<Worker> workers_;
  std::vector<Share<T>> shares_;
  std::vector<double> squared_distances_;
};

}  // namespace cohort
