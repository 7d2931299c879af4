// The driver of one policy in virtual time. Private to sim/: the public face is simulate() in
// sim/scenario.h.
//
// A worker is a small state machine, not a thread. The life of a step:
//   Computing -> [Arriving -> Queued at the group generator] -> Waiting -> (synchronisation) ->
//   Waiting -> [Resuming] -> Computing
// With overlap a worker reports ready early and goes on as ComputingLate until its work is done.
// After its quota it is Ended. All events go through one queue; at each of them the policy takes
// one step and its actions are carried out in order.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "policies/checked_policy.h"
#include "policies/communicator_cache.h"
#include "policies/packed_member.h"
#include "sim/computation.h"
#include "sim/connectivity.h"
#include "sim/coordination.h"
#include "sim/event_queue.h"
#include "sim/progress.h"
#include "sim/receive_queues.h"
#include "sim/scenario.h"
#include "sim/statistics.h"
#include "sim/tie_keys.h"
#include "sim/transfer_plan.h"
#include "sim/transfers.h"
#include "sim/virtual_training.h"

namespace cohort {

class Simulation {
 public:
  Simulation(const Scenario& scenario, const SimulateOptions& options);
  [[nodiscard]] ResultRow run();

 private:
  enum class State : std::uint8_t {
    Computing,
    ComputingLate,
    Arriving,
    Queued,
    Waiting,
    Resuming,
    Ended
  };

  struct alignas(32) Worker {
    Time since{};  // when the current computation began; then when it ended or its last
                   // synchronisation did
    // Computing, Arriving, Queued: how long it takes or took. ComputingLate, Waiting: when the
    // policy learned that the worker waits. Resuming: the coordination to account for.
    Time mark{};
    std::uint32_t step = 0;  // steps done, so also the number of the one in work
    std::uint32_t tie = 0;   // of this step's events
    Slot sync{};             // of its blocking synchronisation, or 0
    std::uint16_t live = 0;  // live synchronisations that it is in
    State state = State::Computing;
    bool synchronised : 1 = false;     // a blocking synchronisation of this step is done
    bool leaving : 1 = false;          // has its quota, waits for its live synchronisations
    bool release_pending : 1 = false;  // released while ComputingLate
    bool lost : 1 = false;
  };
  static_assert(sizeof(Worker) == 32);  // two a cache line

  enum class Phase : std::uint8_t { Fixed, Queued, Transfer, Local, AwaitCompute, Tail };

  struct alignas(64) Sync {
    static constexpr std::size_t kInPlace = 6;  // members

    SyncId id{};
    Time start{};             // effect of the policy's start, communicator set-up included
    Time coordination{};      // the two trips of the last member, and set-up
    Time fixed{};             // of all stages so far
    Time last_compute_end{};  // early: of the members
    double inter_node_bytes = 0;
    double intra_node_bytes = 0;
    boost::container::small_vector<PackedMember, kInPlace> list;  // empty: it is not live
    CommunicatorCache::List communicator{};
    ActivityIndex transfer{};  // of the current stage, if it moves something
    Slot slot{};               // its own for good
    std::uint32_t tie = 0;
    std::uint32_t computing = 0;  // early members that still compute
    std::uint8_t stage = 0;
    SyncKind kind = SyncKind::GroupMean;
    Phase phase = Phase::Fixed;
    bool early : 1 = false;     // at least one member reported ready early
    bool blocks : 1 = false;    // at least one member
    bool moves : 1 = false;     // the current stage has a transfer that has not ended
    bool averages : 1 = false;  // the current stage ends with the members' local mean
    bool last_stage : 1 = true;

    [[nodiscard]] std::span<const PackedMember> members() const {
      return {list.data(), list.size()};
    }
  };
  static_assert(sizeof(Sync) == 128);              // two cache lines
  static constexpr std::uint32_t kSyncBlock = 64;  // a deque's blocks would hold four
  using SyncBlock = std::array<Sync, kSyncBlock>;

  enum class Extra : std::uint8_t { Sync, Timer, LinkSwitch, Loss };
  struct ExtraSlot {
    Extra kind : 8;
    // Index of the sync, timer id, index of the switch, index of the loss.
    std::uint64_t number : 56;
  };
  struct NicSwitch {
    LinkSwitches spells;
    std::uint32_t node;
    std::uint64_t spell = 0;
  };

  // simulation.cc: the loop
  void prepare();
  void look_ahead() const;
  void expect(Slot slot, unsigned step) const;
  void expect(const Sync& sync, unsigned step) const;
  [[nodiscard]] bool end_instant();
  [[nodiscard]] bool reached_target();
  [[noreturn]] void starved() const;
  void dispatch(Slot slot);
  void dispatch_extra(const ExtraSlot& extra, Slot slot);
  void deliver(const Event& event);
  void carry_out(const Action& action);
  void say_goodbye();
  void fold_open_intervals();
  void switch_nic(std::uint64_t number, Slot slot);
  void set_timer(const Action& action);
  void cancel_timer(TimerId timer);
  [[nodiscard]] ResultRow result() const;
  [[nodiscard]] Slot new_slot(Extra kind, std::uint64_t number);
  void free_slot(Slot slot) { free_slots_.push_back(slot); }

  // simulation_workers.cc
  void worker_event(std::uint32_t worker);
  void begin_compute(std::uint32_t worker, Time begin);
  void early_ready(std::uint32_t worker);
  void compute_ended(std::uint32_t worker);
  // Its computation ended at `end`; accounts for it.
  void computed(std::uint32_t worker, Time end) {
    Worker& state = workers_[worker];
    const Time begin = state.since;
    if (observers_.steps) note_step(worker, state.mark, end - begin);
    state.mark = end - begin;
    state.since = end;
    state.state = State::Arriving;
    spent(worker, Spent::Compute, begin, end);
  }
  [[gnu::cold]] void note_step(std::uint32_t worker, Time drawn, Time took) const;
  [[nodiscard]] bool reports(const Worker& state) const;
  void late_compute_ended(std::uint32_t worker);
  void arrive(std::uint32_t worker);
  void hand_over(std::uint32_t worker, bool early);
  void release(std::uint32_t worker, bool snapshot);
  void go_on(std::uint32_t worker);
  void answer(std::uint32_t worker);
  void answered(std::uint32_t worker);
  void resume(std::uint32_t worker, Time begin);
  void step_done(std::uint32_t worker);
  void leave(std::uint32_t worker);
  void lose(std::uint32_t worker);
  void spent(std::uint32_t worker, Spent how, Time begin, Time end, const Sync* sync = nullptr) {
    if (begin == end) return;
    statistics_.spent(how, begin, end);
    if (observers_.timeline) show(worker, how, begin, end, sync);
  }
  [[gnu::cold]] void show(std::uint32_t worker, Spent how, Time begin, Time end,
                          const Sync* sync) const;

  // simulation_syncs.cc
  void start(const Action& action);
  void enter(Sync& sync, std::span<const Member> members);
  void take_effect(Sync& sync, std::span<const Member> members);
  void begin_stage(Sync& sync);
  [[nodiscard]] double sharing_weight(const Sync& sync) const;
  void sync_event(Sync& sync);
  void queue_up(Sync& sync);
  void begin_transfer(Sync& sync);
  void end_transfer(Sync& sync);
  void stage_done(Sync& sync);
  void finish(Sync& sync);
  void done(Sync& sync);
  void fail(Sync& sync);
  void account(const Sync& sync, PackedMember member, Time end);
  std::size_t leave_members(Sync& sync);
  void retire(Sync& sync);
  [[nodiscard]] Time tail(const Sync& sync);
  [[nodiscard]] Sync& new_sync();
  [[nodiscard]] Sync& sync_at(Slot slot) {
    return sync(extras_[static_cast<std::uint32_t>(slot) - workers_.size()].number);
  }
  [[nodiscard]] Sync& sync(std::uint64_t number) const {
    return (*syncs_[number / kSyncBlock])[number % kSyncBlock];
  }

  const Scenario& scenario_;
  SimulateOptions observers_;
  Topology topology_;
  CheckedPolicy policy_;
  EventQueue queue_;
  TieKeys ties_;
  FairShare network_;
  TransferPlanner planner_;
  Transfers transfers_;
  std::optional<ReceiveQueues> receive_queues_;  // only when connections keep something under way
  Coordination coordination_;
  // The trip of a ready, where it is part of the event that ends a computation; training needs the
  // end itself.
  Time report_;
  Computation computation_;
  StepTimes step_times_;
  Statistics statistics_;
  std::unique_ptr<VirtualTraining> training_;  // null: steps only take time
  double payload_;                             // bytes of one synchronisation
  Progress progress_;
  Connectivity connectivity_;
  std::optional<CommunicatorCache> communicators_;  // only when set-up costs something

  Time now_{};
  Time limit_ = Time::max();
  std::uint64_t quota_ = UINT64_MAX, total_ = UINT64_MAX, warmup_ = 0;
  double early_share_ = 1;  // of a step's own work, after which ready is reported
  bool stopped_ = false;
  bool large_ = false;  // what the run holds exceeds the caches

  std::vector<Worker> workers_;
  std::vector<Time> drawn_;  // by worker, of a ComputingLate one; empty when steps are not observed
  std::vector<std::unique_ptr<SyncBlock>> syncs_;  // they stay where they are
  std::uint32_t sync_count_ = 0;
  std::vector<std::uint32_t> free_syncs_;
  std::vector<ExtraSlot> extras_;  // slots from the number of workers on
  std::vector<Slot> free_slots_;
  std::unordered_map<std::uint64_t, Slot> timers_;
  std::vector<NicSwitch> switches_;
  std::vector<double> nic_factor_;  // by node, product of the link stragglers that are slow now
  // Pending events that keep no run alive: link switches and losses to come.
  std::uint32_t idle_events_ = 0;
  std::vector<std::uint32_t> leavers_;  // to be told to the policy after the current actions
  Actions actions_;
  TransferPlan plan_;  // the last that was made
};

}  // namespace cohort
