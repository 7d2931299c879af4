// What is synchronised: ids, roles, kinds of synchronisation. Plain values shared by policies and
// both drivers.
//
// Workers are numbered 0..n-1; parameter servers are members too and are numbered n..n+servers-1.
#pragma once

#include <chrono>
#include <cstdint>

namespace cohort {

// Virtual or wall time since the start of the run, or a duration. Never a double.
using Time = std::chrono::nanoseconds;

enum class WorkerId : std::uint32_t {};
enum class SyncId : std::uint64_t {};
enum class TimerId : std::uint64_t {};

[[nodiscard]] constexpr std::uint32_t index(WorkerId worker) {
  return static_cast<std::uint32_t>(worker);
}
[[nodiscard]] constexpr std::uint64_t index(SyncId id) { return static_cast<std::uint64_t>(id); }
[[nodiscard]] constexpr std::uint64_t index(TimerId id) { return static_cast<std::uint64_t>(id); }

enum class SyncKind : std::uint8_t {
  GroupMean,     // P-Reduce: all members end with the members' weighted mean
  PairMean,      // AD-PSGD: two members end with their mean
  NeighbourMix,  // D-PSGD: the one blocking or background member ends with a weighted sum over the
                 // sources and itself
  ServerPush,    // parameter server: the member's gradient goes to the servers, in shards
  ServerPull,    // parameter server: the servers' parameters come to the member, in shards
};

enum class Role : std::uint8_t {
  Blocking,    // reported ready and waits until a release
  Background,  // released with a snapshot, computes on; corrected at done by mean - snapshot
  Passive,  // AD-PSGD's served side: takes part while it computes (or waits at its own sync point)
  Forwarder,  // weight 0: carries data and is not changed
  Source,     // is read, neither held nor changed
  Server,     // holds a shard of the parameters
};

struct Member {
  WorkerId worker{};
  Role role = Role::Blocking;
  double weight = 0;

  bool operator==(const Member&) const = default;
};

}  // namespace cohort
