// One member's parameters and the copies that synchronisations need. Written by the compute thread
// (local steps) and the sync thread (averages) under `mutex`.
//
// With training the entries are the model's parameters, zeros up to the payload, and, where
// momentum is averaged, as many again for the velocities.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/messages.h"
#include "runtime/shard_optimiser.h"
#include "runtime/vector_unit.h"

namespace cohort {

class Replica {
 public:
  // Workers hold all entries; server j of S the shard [first, first + count) of shard(entries, S,
  // j). Initial parameters depend on (seed, entry) alone, so all members agree. With training they
  // are zeros, and a server has no optimiser: both are left to MemberTraining's maker. `unit`
  // outlives this.
  Replica(const message::Prepare& prepare, VectorUnit& unit);

  // The part of `entries` that server `shard` of `servers` holds: first entry and count.
  [[nodiscard]] static std::pair<std::size_t, std::size_t> shard(std::size_t entries,
                                                                 std::uint32_t servers,
                                                                 std::uint32_t shard);

  [[nodiscard]] const message::Prepare& prepare() const { return prepare_; }
  [[nodiscard]] bool is_server() const { return prepare_.member >= prepare_.workers; }
  [[nodiscard]] VectorUnit& unit() const { return unit_; }

  // Scratch of synchronisations, kept for the next ones; sync thread only. Its values are anything.
  [[nodiscard]] Buffer borrow(std::size_t count);
  void give_back(Buffer buffer);
  // A cancelled transfer may still write to it: kept as long as this.
  void retire(Buffer buffer);
  [[nodiscard]] bool has_retired() const { return !retired_.empty(); }

  // The parameters as they are, to be read without the lock until let_go(), whatever happens to
  // them meanwhile: they are copied only when something does. With the lock.
  [[nodiscard]] const float* hold();
  void let_go() { held_ = false; }
  // Before a synchronisation changes the parameters. With the lock.
  void change();
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  std::mutex mutex;
  Buffer parameters;
  Buffer snapshot;                  // allocated at the first release with one
  Buffer gradient;                  // of workers that push or average it
  std::array<Buffer, 2> published;  // parameters at the ready of even and odd steps, when asked for
  std::unique_ptr<ShardOptimiser> optimiser;  // of servers
  std::atomic<bool> over{false};  // nobody waits for the step under way: it may end early

 private:
  message::Prepare prepare_;
  VectorUnit& unit_;
  Buffer held_parameters_;  // where they have changed since hold()
  bool held_ = false;
  std::uint64_t changes_ = 0;
  std::vector<Buffer> spare_;
  std::vector<Buffer> retired_;
};

}  // namespace cohort
