// The one interface: a group-scheduling policy as a value-in, value-out state machine.
//
// A driver (the simulator in sim/, the group generator in runtime/) feeds events and carries out
// actions. The driver owns time, threads, sockets and seeds; a policy never asks for the time,
// never draws unseeded randomness, does no I/O.
//
// The driver promises
//   D1  one step at a time; `Event::at` never decreases;
//   D2  actions are carried out in the order given;
//   D3  each started synchronisation ends in exactly one done or failed;
//   D4  a loss is delivered before the failed of every synchronisation that the worker was in;
//   D5  a timer fires at most once, never before its time, never after it was cancelled;
//   D6  every worker of the topology is live from construction (joined only says when it
//   connected); a worker reports ready
//       only when it is resumed, with steps numbered 0, 1, 2, ...; it reports nothing after left or
//       lost;
//   D7  a worker leaves only when it is not blocked, and after the end of every live
//   synchronisation that it is in.
//
// The policy promises
//   P1  actions depend only on options, topology, seed and the events so far;
//   P2  a worker is a blocking member of at most one live synchronisation, and only after it
//   reported ready and before its
//       release; a background member of at most one, and only after a release with snapshot that no
//       later start has used (a failed start gives its survivors' snapshots back); a passive member
//       of at most one;
//   P3  every ready worker is eventually started or released, as long as the others make progress;
//   P4  ids of synchronisations and timers strictly increase over the run, so none is reused;
//   P5  only `release` resumes a blocked worker; exactly one release follows each ready;
//   P6  blocking and background members are neither left nor lost; passive, forwarder and source
//   members are not lost; P7  no worker is twice in one synchronisation; the weights of the members
//   that are not servers sum to 1.
// CheckedPolicy (policies/checked_policy.h) verifies both lists in every run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

enum class EventKind : std::uint8_t {
  WorkerJoined,
  WorkerReady,
  WorkerLeft,
  WorkerLost,
  SyncDone,
  SyncFailed,
  TimerFired,
};

// One event. Only the fields that its kind names are meaningful; the factories below set exactly
// those.
struct Event {
  EventKind kind = EventKind::WorkerJoined;
  bool early = false;  // ready: the worker still computes its last buckets (overlap of a gradient
                       // all-reduce or push)
  WorkerId worker{};   // joined, ready, left, lost
  Time at{};
  std::uint64_t step = 0;  // ready: the number of the finished local step, from 0
  Time compute{};   // ready: how long that step's compute took (stretched by interference); early:
                    // so far
  SyncId sync{};    // done, failed
  Time transfer{};  // done: from the start of the transfer to its end
  std::span<const double>
      squared_distances{};  // done: each member's from the mean, in the start's order; or empty
  TimerId timer{};          // timer fired

  [[nodiscard]] static Event joined(Time at, WorkerId worker) {
    Event event{.kind = EventKind::WorkerJoined, .at = at};
    event.worker = worker;
    return event;
  }
  [[nodiscard]] static Event ready(Time at, WorkerId worker, std::uint64_t step, Time compute,
                                   bool early = false) {
    Event event{.kind = EventKind::WorkerReady, .at = at};
    event.worker = worker;
    event.step = step;
    event.compute = compute;
    event.early = early;
    return event;
  }
  [[nodiscard]] static Event left(Time at, WorkerId worker) {
    Event event{.kind = EventKind::WorkerLeft, .at = at};
    event.worker = worker;
    return event;
  }
  [[nodiscard]] static Event lost(Time at, WorkerId worker) {
    Event event{.kind = EventKind::WorkerLost, .at = at};
    event.worker = worker;
    return event;
  }
  [[nodiscard]] static Event done(Time at, SyncId sync, Time transfer,
                                  std::span<const double> squared_distances = {}) {
    Event event{.kind = EventKind::SyncDone, .at = at};
    event.sync = sync;
    event.transfer = transfer;
    event.squared_distances = squared_distances;
    return event;
  }
  [[nodiscard]] static Event failed(Time at, SyncId sync) {
    Event event{.kind = EventKind::SyncFailed, .at = at};
    event.sync = sync;
    return event;
  }
  [[nodiscard]] static Event fired(Time at, TimerId timer) {
    Event event{.kind = EventKind::TimerFired, .at = at};
    event.timer = timer;
    return event;
  }
};

enum class ActionKind : std::uint8_t { Start, Release, SetTimer, CancelTimer };

struct Action {  // only the fields that its kind names are meaningful
  ActionKind kind = ActionKind::Release;
  SyncKind sync_kind = SyncKind::GroupMean;  // start
  bool snapshot = false;           // release: copy the parameters before the worker resumes
  WorkerId worker{};               // release
  std::uint32_t first_member = 0;  // start: see Actions::members
  std::uint32_t member_count = 0;
  union {
    SyncId sync{};  // start
    TimerId timer;  // set, cancel
  };
  union {
    // Start of a neighbour mix: sources are read as at their ready of this step.
    std::uint64_t step = 0;
    Time at;  // set: when it fires, not before the current event's time
  };
};
static_assert(sizeof(Action) == 32);  // one event of a large cluster may release all its workers

// The actions of one step, in order, with the members of all its starts in one buffer. Reused: no
// allocation once warm.
class Actions {
 public:
  void clear() {
    actions_.clear();
    members_.clear();
  }

  // Begins a start; members are then added to it with add_member before any other action.
  void start(SyncId id, SyncKind kind, std::uint64_t step = 0) {
    Action& action = append(ActionKind::Start);
    action.sync_kind = kind;
    action.first_member = static_cast<std::uint32_t>(members_.size());
    action.sync = id;
    action.step = step;
  }
  void add_member(WorkerId worker, Role role, double weight) {
    members_.push_back({worker, role, weight});
    ++actions_.back().member_count;
  }
  void release(WorkerId worker) { append(ActionKind::Release).worker = worker; }
  void release_with_snapshot(WorkerId worker) {
    Action& action = append(ActionKind::Release);
    action.snapshot = true;
    action.worker = worker;
  }
  void set_timer(TimerId timer, Time at) {
    Action& action = append(ActionKind::SetTimer);
    action.timer = timer;
    action.at = at;
  }
  void cancel_timer(TimerId timer) { append(ActionKind::CancelTimer).timer = timer; }

  [[nodiscard]] std::span<const Action> all() const { return actions_; }
  [[nodiscard]] std::span<const Member> members(const Action& start) const {
    return {members_.data() + start.first_member, start.member_count};
  }

 private:
  Action& append(ActionKind kind) {
    Action& action = actions_.emplace_back();
    action.kind = kind;
    return action;
  }

  std::vector<Action> actions_;
  std::vector<Member> members_;
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Takes one event and appends the answer to `out`, which the caller has cleared.
  virtual void step(const Event& event, Actions& out) = 0;

  // A hint that a driver of very many workers may give: an event of `worker` is near. Given several
  // times as it comes nearer, with step 0, 1, 2, ..., since what is near tells where the next thing
  // is. The policy may prefetch what it holds of the worker; nothing that can be seen changes.
  virtual void expect(WorkerId worker, unsigned step) const {
    static_cast<void>(worker);
    static_cast<void>(step);
  }
  // The same for the end of a live synchronisation.
  virtual void expect_end(SyncId sync, unsigned step) const {
    static_cast<void>(sync);
    static_cast<void>(step);
  }
};

}  // namespace cohort
