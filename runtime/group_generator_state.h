// What the group generator knows of its members and live synchronisations. Private to
// group_generator*.cc; the contract is runtime/group_generator.h.
//
// A worker: Computing -> Waiting (its ready is with the policy) -> released: Computing again, or
// Leaving after its last step, until its live synchronisations are over: Left. Lost at any time.
// A synchronisation: started; reported by one member after the other; done when all have. It fails
// when a member is lost or reports so: the others are told to abort, and it is over when all who
// live have reported one way or the other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "policies/checked_policy.h"
#include "runtime/group_communicators.h"
#include "runtime/group_generator.h"
#include "traces/stragglers.h"

namespace cohort {

struct GroupGenerator::State {
  enum class Phase : std::uint8_t { Before, Running, Stopping, Ended };
  enum class Life : std::uint8_t { Computing, Waiting, Leaving, Left, Lost };

  struct Worker {
    Life life = Life::Computing;
    std::uint64_t step = 0;  // the one in work, or to be released from
    std::uint32_t live = 0;  // live synchronisations that it is in
    Time work{};             // of `step`, as drawn
    std::size_t timing = 0;  // its latest in the record, once it has reported a step
  };
  struct Sync {
    SyncKind kind = SyncKind::GroupMean;
    GroupCommunicators::Lease communicator;
    bool rendezvous = false;  // has been passed on
    bool failing = false;
    std::string reason;            // of the first member that reported a failure
    std::uint32_t unreported = 0;  // members alive that have not
    std::vector<bool> reported;    // by place in the list of members
    std::vector<std::vector<message::Sample>> samples;  // the same; with verify
    std::size_t timing = 0;                             // in the record, members and all
  };
  using Live = std::map<std::uint64_t, Sync>;

  State(const RunSetup& given, Outbox& out, ActionLog* log);

  RunSetup setup;
  Outbox& outbox;
  CheckedPolicy policy;
  StepTimes step_times;
  GroupCommunicators communicators;
  std::vector<Worker> workers;
  std::vector<bool> lost;  // by member
  Live live;
  RunRecord record;
  Phase phase = Phase::Before;
  Time origin{};
  Time now{};                          // since the origin
  std::uint64_t steps = 0;             // done by all
  std::uint32_t computing = 0;         // workers
  std::uint32_t remaining = 0;         // workers neither left nor lost
  std::set<std::uint64_t> timers;      // of the policy
  std::vector<std::uint32_t> leavers;  // to be told to the policy after the current actions
  Actions actions;

  // group_generator.cc: events in, workers
  void at(Time time);
  void begin();
  void deliver(const Event& event);
  void carry_out(const Action& action);
  void settle();
  void say_goodbye();
  void ready(std::uint32_t member, const message::Ready& message);
  void diverged(std::uint32_t member, const message::Diverged& message);
  void release(std::uint32_t worker, bool snapshot);
  void compute(std::uint32_t worker, bool snapshot);
  void leave(std::uint32_t worker);
  void lose(std::uint32_t member, const std::string& reason);
  void lose_worker(Worker& worker);
  void stop(const std::string& failure);
  void end(const std::string& failure);
  void send(std::uint32_t member, const Message& message);

  // group_generator_syncs.cc
  void start(const Action& action);
  void communicate(Sync& sync, std::span<const Member> members, message::Start& message);
  void tell_dropped();
  void done(std::uint32_t member, const message::Done& message);
  void failed(std::uint32_t member, const message::Failed& message);
  void pass_on(std::uint32_t member, const message::Rendezvous& message);
  // The live synchronisation and the member's place in it. Throws FrameError.
  [[nodiscard]] std::pair<Live::iterator, std::size_t> report(std::uint32_t member, SyncId id);
  void check_samples(const Sync& sync, std::size_t place, const message::Done& message) const;
  void abort(Live::iterator sync);
  void advance(Live::iterator sync);
  void finish(Live::iterator sync);
  void fail(Live::iterator sync);
  void retire(Live::iterator sync);
  [[nodiscard]] bool verify(const Sync& sync);
  void overdue(std::uint64_t sync);
  [[nodiscard]] std::vector<std::uint64_t> syncs_of(std::uint32_t member) const;
  [[nodiscard]] SyncTiming& timing(const Sync& sync) { return record.syncs[sync.timing]; }
  [[nodiscard]] const SyncTiming& timing(const Sync& sync) const {
    return record.syncs[sync.timing];
  }

  // Names for sentences.
  [[nodiscard]] std::string name(std::uint32_t member) const;
  [[nodiscard]] std::string name(const SyncTiming& sync) const;
  [[nodiscard]] std::string names_of(std::span<const std::uint64_t> syncs) const;
  [[nodiscard]] std::string unreported() const;
};

// Timers of the group generator's own are numbered from here on; the policy's, from 0.
inline constexpr std::uint64_t kOwnTimers = std::uint64_t{1} << 63;
// A synchronisation that failed has ended at all its members, or the run fails. Longer than the
// silence after which a peer is lost, since a member may notice first.
inline constexpr Time kFailureLimit = std::chrono::seconds(6);
// The live synchronisations of a run that stops have ended, or are given up.
inline constexpr Time kStopLimit = std::chrono::seconds(5);
inline constexpr TimerId kStopTimer{~std::uint64_t{0}};

}  // namespace cohort
