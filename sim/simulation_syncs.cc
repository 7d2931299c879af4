// The life of a synchronisation in the simulator: start, fixed terms, transfer by stages, done or failed.
#include <algorithm>

#include "policies/random.h"
#include "sim/simulation.h"
#include "sim/timeline.h"
#include "traces/units.h"

namespace cohort {

void Simulation::start(const Action& action) {
  const std::uint32_t number = new_sync();
  Sync& sync = syncs_[number];
  const auto members = actions_.members(action);
  sync.id = action.sync;
  sync.kind = action.sync_kind;
  sync.members.assign(members.begin(), members.end());
  sync.tie = ties_.next();
  enter(sync, number);
  take_effect(sync);
  begin_fixed(number, plan(sync));
}

// Marks the members and finds how long the request of the last one was under way.
void Simulation::enter(Sync& sync, std::uint32_t number) {
  Time last_arrived{-1}, last_trip{};
  for (const auto& member : sync.members) {
    if (member.role == Role::Server) continue;
    Worker& state = workers_[index(member.worker)];
    ++state.live;
    if (member.role != Role::Blocking) continue;
    ++sync.blocked;
    state.sync = number + 1;
    if (state.state == State::ComputingLate) {
      sync.early = true;
      ++sync.computing;
    }
    if (state.mark > last_arrived) {
      last_arrived = state.mark;
      last_trip = std::max(Time{}, state.mark - state.since);
    }
  }
  if (sync.early) last_trip = Time{};
  if (last_arrived.count() >= 0 && last_arrived < now_) statistics_.conflict();
  sync.coordination = last_trip;
}

void Simulation::take_effect(Sync& sync) {
  Time effect = now_;
  if (!coordination_.immediate()) {
    for (const auto& member : sync.members)
      if (member.role != Role::Server) effect = coordination_.serve(now_);
    effect += coordination_.latency();
  }
  if (communicators_ && sync.kind == SyncKind::GroupMean) {
    const auto lease = communicators_->acquire(sync.members);
    sync.communicator = lease.list;
    if (!lease.hit) effect += scenario_.cluster.communicator_setup;
  }
  sync.start = effect;
  sync.coordination += effect - now_;
}

const TransferPlan& Simulation::plan(Sync& sync) {
  sync.plan = plans_.take();
  TransferPlan& plan = sync.plan == KeptPlans::kNone ? scratch_plan_ : plans_.at(sync.plan);
  planner_.plan(sync.kind, sync.members, scenario_.workload.payload, plan);
  sync.inter_node_bytes = plan.inter_node_bytes;
  sync.intra_node_bytes = plan.intra_node_bytes;
  return plan;
}

// Valid until the next plan. A plan that found no place to be kept is made again.
const TransferPlan& Simulation::plan_of(const Sync& sync) {
  if (sync.plan != KeptPlans::kNone) return plans_.at(sync.plan);
  planner_.plan(sync.kind, sync.members, scenario_.workload.payload, scratch_plan_);
  return scratch_plan_;
}

void Simulation::drop_plan(Sync& sync) {
  plans_.give_back(sync.plan);
  sync.plan = KeptPlans::kNone;
}

void Simulation::begin_fixed(std::uint32_t number, const TransferPlan& plan) {
  Sync& sync = syncs_[number];
  const Stage& stage = plan.stages[sync.stage];
  sync.local = stage.local;
  sync.moves = stage.amount > 0;
  sync.last_stage = sync.stage + 1 == plan.stages.size();
  Time fixed = stage.latency;
  if (sync.stage == 0 && sync.blocked > 0) fixed += scenario_.workload.drain;
  sync.fixed += fixed;
  sync.phase = Phase::Fixed;
  queue_.schedule(slot_of(number), std::max(now_, sync.stage == 0 ? sync.start : now_) + fixed, sync.tie);
}

void Simulation::sync_event(std::uint32_t number) {
  Sync& sync = syncs_[number];
  switch (sync.phase) {
    case Phase::Fixed:
      return sync.moves ? begin_transfer(number) : stage_done(number);
    case Phase::Transfer:
      end_transfer(sync);
      return stage_done(number);
    case Phase::Local:
      return finish(number);
    case Phase::Tail:
      return done(number);
    case Phase::AwaitCompute:
      return;
  }
}

void Simulation::begin_transfer(std::uint32_t number) {
  Sync& sync = syncs_[number];
  const TransferPlan& plan = plan_of(sync);
  const Stage& stage = plan.stages[sync.stage];
  sync.phase = Phase::Transfer;
  sync.activity = transfers_.begin(slot_of(number), sync.tie, plan.loads_of(stage), stage.amount, now_);
  if (sync.last_stage) drop_plan(sync);
  if (!computation_.interferes()) return;
  for (const auto& member : sync.members)
    if (member.role != Role::Server) computation_.transfer_began(index(member.worker), now_);
}

void Simulation::end_transfer(Sync& sync) {
  transfers_.end(sync.activity);
  if (!computation_.interferes()) return;
  for (const auto& member : sync.members)
    if (member.role != Role::Server) computation_.transfer_ended(index(member.worker), now_);
}

void Simulation::stage_done(std::uint32_t number) {
  Sync& sync = syncs_[number];
  if (!sync.last_stage) {
    ++sync.stage;
    return begin_fixed(number, plan_of(sync));
  }
  if (sync.local == Time{}) return finish(number);
  sync.fixed += sync.local;
  sync.phase = Phase::Local;
  queue_.schedule(slot_of(number), now_ + sync.local, sync.tie);
}

// All stages are over; an overlapped one also waits for its members' computation and for the last bucket.
void Simulation::finish(std::uint32_t number) {
  Sync& sync = syncs_[number];
  if (sync.computing > 0) {
    sync.phase = Phase::AwaitCompute;
    return;
  }
  const Time earliest = sync.early ? sync.last_compute_end + tail(sync) : now_;
  if (earliest <= now_) return done(number);
  sync.phase = Phase::Tail;
  queue_.schedule(slot_of(number), earliest, sync.tie);
}

Time Simulation::tail(const Sync& sync) {
  planner_.plan(sync.kind, sync.members, scenario_.workload.payload / scenario_.workload.buckets, scratch_plan_);
  return from_seconds_up(planner_.lone_seconds_now(scratch_plan_));
}

void Simulation::done(std::uint32_t number) {
  Sync& sync = syncs_[number];
  statistics_.synchronised(sync.members.size(), sync.blocked, sync.fixed, sync.inter_node_bytes,
                           sync.intra_node_bytes);
  connectivity_.join(sync.members);
  account(sync, now_);
  leave_members(sync);
  const SyncId id = sync.id;
  const Time took = now_ - sync.start;
  retire(number);
  deliver(Event::done(now_, id, took));
}

void Simulation::fail(std::uint32_t number) {
  Sync& sync = syncs_[number];
  if (sync.phase == Phase::Transfer) end_transfer(sync);
  queue_.cancel(slot_of(number));
  account(sync, now_);
  leave_members(sync);
  const SyncId id = sync.id;
  retire(number);
  deliver(Event::failed(now_, id));
}

// Splits each blocking member's time since its ready into wait, coordination and synchronisation.
void Simulation::account(const Sync& sync, Time end) {
  for (const auto& member : sync.members) {
    if (member.role == Role::Server) continue;
    const std::uint32_t worker = index(member.worker);
    if (member.role != Role::Blocking) {
      if (observers_.timeline && end > sync.start)
        observers_.timeline->background(worker, sync.id, sync.members, sync.start, end);
      continue;
    }
    Worker& state = workers_[worker];
    if (state.state == State::ComputingLate) continue;
    const Time since = state.since;
    const Time start = std::clamp(sync.start, since, end);
    const Time asked = std::max(since, start - sync.coordination);
    spent(worker, Spent::Wait, since, asked);
    spent(worker, Spent::Coordinate, asked, start);
    if (end > start) spent(worker, Spent::Sync, start, end, &sync);
    state.since = end;
  }
}

void Simulation::leave_members(Sync& sync) {
  for (const auto& member : sync.members) {
    if (member.role == Role::Server) continue;
    const std::uint32_t worker = index(member.worker);
    Worker& state = workers_[worker];
    --state.live;
    if (member.role == Role::Blocking) {
      state.sync = 0;
      state.synchronised = true;
      state.mark = now_;
    }
    if (state.leaving && state.live == 0) {
      state.leaving = false;
      leavers_.push_back(worker);
    }
  }
  if (communicators_ && sync.kind == SyncKind::GroupMean) communicators_->release(sync.communicator);
}

std::uint32_t Simulation::new_sync() {
  if (free_syncs_.empty()) {
    const auto number = static_cast<std::uint32_t>(syncs_.size());
    syncs_.emplace_back();
    sync_slots_.push_back(new_slot(Extra::Sync, number));
    return number;
  }
  const std::uint32_t number = free_syncs_.back();
  free_syncs_.pop_back();
  return number;
}

// Keeps the member list of a small synchronisation for the next one; that of a huge one is given back.
void Simulation::retire(std::uint32_t number) {
  constexpr std::size_t kHuge = 1024;
  Sync& sync = syncs_[number];
  drop_plan(sync);
  Sync fresh;
  if (sync.members.capacity() <= kHuge) fresh.members.swap(sync.members);
  fresh.members.clear();
  sync = std::move(fresh);
  free_syncs_.push_back(number);
}

}  // namespace cohort
