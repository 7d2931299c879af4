// The life of a synchronisation in the simulator: start, fixed terms, transfer by stages, done or
// failed.
#include <algorithm>
#include <cmath>

#include "policies/random.h"
#include "sim/simulation.h"
#include "sim/timeline.h"
#include "traces/units.h"

namespace cohort {

void Simulation::start(const Action& action) {
  Sync& sync = new_sync();
  const auto members = actions_.members(action);
  sync.id = action.sync;
  sync.kind = action.sync_kind;
  sync.tie = ties_.next();
  enter(sync, members);
  take_effect(sync, members);
  if (training_) training_->started(action, members);
  planner_.plan(sync.kind, sync.members(), payload_, plan_);
  sync.inter_node_bytes = plan_.inter_node_bytes;
  sync.intra_node_bytes = plan_.intra_node_bytes;
  begin_stage(sync);
}

// Marks the members and finds how long the request of the last one was under way.
void Simulation::enter(Sync& sync, std::span<const Member> members) {
  Time last_arrived{-1}, last_trip{};
  sync.list.reserve(members.size());
  for (const auto& member : members) {
    sync.list.emplace_back(member);
    if (member.role == Role::Server) continue;
    Worker& state = workers_[index(member.worker)];
    ++state.live;
    if (member.role != Role::Blocking) continue;
    sync.blocks = true;
    state.sync = sync.slot;
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
  if (sync.blocks && last_arrived < now_) statistics_.conflict();
  sync.coordination = last_trip;
}

void Simulation::take_effect(Sync& sync, std::span<const Member> members) {
  Time effect = now_;
  if (!coordination_.immediate()) {
    const auto is_worker = [](const Member& member) { return member.role != Role::Server; };
    const auto told = coordination_.queues() ? std::ranges::count_if(members, is_worker) : 0;
    effect = coordination_.serve(now_, static_cast<std::size_t>(told)) + coordination_.latency();
  }
  if (communicators_ && sync.kind == SyncKind::GroupMean) {
    const auto lease = communicators_->acquire(members);
    sync.communicator = lease.list;
    if (!lease.hit) effect += scenario_.cluster.communicator_setup;
  }
  sync.start = effect;
  sync.coordination += effect - now_;
}

// By plan_, which is the synchronisation's.
void Simulation::begin_stage(Sync& sync) {
  const Stage& stage = plan_.stages[sync.stage];
  sync.averages = stage.local > Time{};
  sync.moves = stage.amount > 0;
  sync.last_stage = sync.stage + 1U == plan_.stages.size();
  if (sync.moves && scenario_.cluster.sharing_spread > 0) plan_.weigh(sharing_weight(sync));
  if (sync.moves) {
    sync.transfer = transfers_.prepare(sync.slot, sync.tie, plan_.loads_of(stage), stage.amount);
    if (receive_queues_)
      receive_queues_->prepare(sync.transfer, plan_.loads_of(stage), stage.amount);
  }
  plan_.trim();
  Time fixed = stage.latency;
  if (sync.stage == 0 && sync.blocks) fixed += scenario_.workload.drain;
  sync.fixed += fixed;
  sync.phase = Phase::Fixed;
  queue_.schedule(sync.slot,
                  instant_after(std::max(now_, sync.stage == 0 ? sync.start : now_), fixed),
                  sync.tie);
}

double Simulation::sharing_weight(const Sync& sync) const {
  constexpr std::uint32_t kNoNode =
      UINT32_MAX;  // link stragglers draw from the same purpose, by node
  Stream stream(scenario_.seed, Purpose::Link, kNoNode, index(sync.id), sync.stage);
  return std::exp(scenario_.cluster.sharing_spread * stream.normal());
}

void Simulation::sync_event(Sync& sync) {
  switch (sync.phase) {
    case Phase::Fixed:
      return sync.moves ? queue_up(sync) : stage_done(sync);
    case Phase::Queued:
      return begin_transfer(sync);
    case Phase::Transfer:
      end_transfer(sync);
      return stage_done(sync);
    case Phase::Local:
      return finish(sync);
    case Phase::Tail:
      return done(sync);
    case Phase::AwaitCompute:
      return;
  }
}

// Behind what others have under way to the same NICs.
void Simulation::queue_up(Sync& sync) {
  const Time wait = receive_queues_ ? receive_queues_->wait(sync.transfer, now_) : Time{};
  if (wait == Time{}) return begin_transfer(sync);
  sync.phase = Phase::Queued;
  queue_.schedule(sync.slot, instant_after(now_, wait), sync.tie);
}

void Simulation::begin_transfer(Sync& sync) {
  sync.phase = Phase::Transfer;
  if (receive_queues_) receive_queues_->begin(sync.transfer, now_);
  transfers_.begin(sync.transfer, now_);
  if (!computation_.interferes()) return;
  for (const auto member : sync.members())
    if (member.role() != Role::Server) computation_.transfer_began(index(member.worker()), now_);
}

void Simulation::end_transfer(Sync& sync) {
  if (receive_queues_) receive_queues_->end(sync.transfer);
  transfers_.end(sync.transfer);
  sync.moves = false;
  if (!computation_.interferes()) return;
  for (const auto member : sync.members())
    if (member.role() != Role::Server) computation_.transfer_ended(index(member.worker()), now_);
}

void Simulation::stage_done(Sync& sync) {
  if (!sync.last_stage) {
    ++sync.stage;
    planner_.plan(sync.kind, sync.members(), payload_, plan_);
    return begin_stage(sync);
  }
  if (!sync.averages) return finish(sync);
  const Time local = planner_.local_mean(payload_);
  sync.fixed += local;
  sync.phase = Phase::Local;
  queue_.schedule(sync.slot, instant_after(now_, local), sync.tie);
}

// All stages are over; an overlapped one also waits for its members' computation and for the last
// bucket.
void Simulation::finish(Sync& sync) {
  if (sync.computing > 0) {
    sync.phase = Phase::AwaitCompute;
    return;
  }
  const Time earliest = sync.early ? sync.last_compute_end + tail(sync) : now_;
  if (earliest <= now_) return done(sync);
  sync.phase = Phase::Tail;
  queue_.schedule(sync.slot, earliest, sync.tie);
}

Time Simulation::tail(const Sync& sync) {
  planner_.plan(sync.kind, sync.members(), payload_ / scenario_.workload.buckets, plan_);
  return from_seconds_up(planner_.lone_seconds_now(plan_));
}

void Simulation::done(Sync& sync) {
  connectivity_.join(sync.members());
  const std::size_t blocked = leave_members(sync);
  statistics_.synchronised(sync.members().size(), blocked, sync.fixed, sync.inter_node_bytes,
                           sync.intra_node_bytes);
  const SyncId id = sync.id;
  const Time took = now_ - sync.start;
  retire(sync);
  deliver(Event::done(now_, id, took, training_ ? training_->done(id) : std::span<const double>{}));
}

void Simulation::fail(Sync& sync) {
  if (sync.phase == Phase::Transfer) {
    end_transfer(sync);
  } else if ((sync.phase == Phase::Fixed || sync.phase == Phase::Queued) && sync.moves) {
    transfers_.end(sync.transfer);
  }
  queue_.cancel(sync.slot);
  leave_members(sync);
  const SyncId id = sync.id;
  retire(sync);
  if (training_) training_->failed(id);
  deliver(Event::failed(now_, id));
}

// Splits a blocking member's time since its ready into wait, coordination and synchronisation.
void Simulation::account(const Sync& sync, PackedMember member, Time end) {
  const std::uint32_t worker = index(member.worker());
  if (member.role() != Role::Blocking) {
    if (member.role() != Role::Server && observers_.timeline && end > sync.start)
      observers_.timeline->background(worker, sync.id, sync.members(), sync.start, end);
    return;
  }
  Worker& state = workers_[worker];
  if (state.state == State::ComputingLate) return;
  const Time since = state.since;
  const Time start = std::clamp(sync.start, since, end);
  const Time asked = std::max(since, start - sync.coordination);
  spent(worker, Spent::Wait, since, asked);
  spent(worker, Spent::Coordinate, asked, start);
  spent(worker, Spent::Sync, start, end, &sync);
  state.since = end;
}

// Returns how many it blocked.
std::size_t Simulation::leave_members(Sync& sync) {
  const Time now = now_;  // which the loop does not change, but a compiler cannot know that
  std::size_t blocked = 0;
  for (const auto member : sync.members()) {
    account(sync, member, now);
    if (member.role() == Role::Server) continue;
    const std::uint32_t worker = index(member.worker());
    Worker& state = workers_[worker];
    --state.live;
    if (member.role() == Role::Blocking) {
      ++blocked;
      state.sync = Slot{};
      state.synchronised = true;
      state.mark = now;
    }
    if (state.leaving && state.live == 0) {
      state.leaving = false;
      leavers_.push_back(worker);
    }
  }
  if (communicators_ && sync.kind == SyncKind::GroupMean)
    communicators_->release(sync.communicator);
  return blocked;
}

Simulation::Sync& Simulation::new_sync() {
  if (free_syncs_.empty()) {
    const auto number = sync_count_++;
    if (number % kSyncBlock == 0) syncs_.push_back(std::make_unique<SyncBlock>());
    Sync& fresh = sync(number);
    fresh.slot = new_slot(Extra::Sync, number);
    return fresh;
  }
  Sync& sync = this->sync(free_syncs_.back());
  free_syncs_.pop_back();
  if (!free_syncs_.empty()) expect(this->sync(free_syncs_.back()), 0);
  sync.fixed = Time{};
  sync.last_compute_end = Time{};
  sync.computing = 0;
  sync.stage = 0;
  sync.early = false;
  sync.blocks = false;
  return sync;
}

// Keeps the member list of a small synchronisation for the next one; that of a huge one is given
// back.
void Simulation::retire(Sync& sync) {
  constexpr std::size_t kHuge = 1024;
  sync.list.clear();
  if (sync.list.capacity() > kHuge) sync.list.shrink_to_fit();
  free_syncs_.push_back(static_cast<std::uint32_t>(
      extras_[static_cast<std::uint32_t>(sync.slot) - workers_.size()].number));
}

}  // namespace cohort
