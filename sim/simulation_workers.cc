// The life of a worker's step in the simulator: compute, report ready, be released, leave or be
// lost.
#include <algorithm>
#include <cmath>

#include "sim/simulation.h"
#include "sim/timeline.h"

namespace cohort {

void Simulation::worker_event(std::uint32_t worker) {
  switch (workers_[worker].state) {
    case State::Computing:
      return early_share_ < 1 ? early_ready(worker) : compute_ended(worker);
    case State::ComputingLate:
      return late_compute_ended(worker);
    case State::Arriving:
    case State::Queued:
      return arrive(worker);
    case State::Resuming:
      return answered(worker);
    case State::Waiting:
    case State::Ended:
      return;
  }
}

void Simulation::begin_compute(std::uint32_t worker, Time begin) {
  Worker& state = workers_[worker];
  state.state = State::Computing;
  state.since = begin;
  state.synchronised = false;
  state.tie = ties_.next();
  const Time work = step_times_(WorkerId{worker}, state.step);
  state.mark = work;
  const Time first = early_share_ < 1 ? Time{static_cast<std::int64_t>(std::ceil(
                                            static_cast<double>(work.count()) * early_share_))}
                                      : work;
  if (training_) training_->begin(worker, state.step);
  computation_.begin(worker, begin, first, state.tie, now_);
}

void Simulation::early_ready(std::uint32_t worker) {
  Worker& state = workers_[worker];
  const Time rest{static_cast<std::int64_t>(
      std::floor(static_cast<double>(state.mark.count()) * (1 - early_share_)))};
  if (observers_.steps) drawn_[worker] = state.mark;
  state.state = State::ComputingLate;
  computation_.begin(worker, now_, rest, state.tie, now_);
  hand_over(worker, true);
}

void Simulation::compute_ended(std::uint32_t worker) {
  computation_.end(worker);
  computed(worker, now_ - report_);
  if (training_) training_->computed(worker);
  if (coordination_.immediate() || report_ > Time{}) {
    hand_over(worker, false);
  } else {
    queue_.schedule(Slot{worker}, now_ + coordination_.latency(), workers_[worker].tie);
  }
}

void Simulation::note_step(std::uint32_t worker, Time drawn, Time took) const {
  observers_.steps->push_back({WorkerId{worker}, workers_[worker].step, drawn, took});
}

// Its computation has ended, but the event that says so is still on its way to the group generator.
bool Simulation::reports(const Worker& state) const {
  return report_ > Time{} && state.state == State::Computing && state.since + state.mark <= now_;
}

void Simulation::late_compute_ended(std::uint32_t worker) {
  Worker& state = workers_[worker];
  computation_.end(worker);
  if (observers_.steps) note_step(worker, drawn_[worker], now_ - state.since);
  spent(worker, Spent::Compute, state.since, now_);
  state.since = now_;
  state.state = State::Waiting;
  if (training_) training_->computed(worker);
  if (state.release_pending) {
    state.release_pending = false;
    resume(worker, now_);
  } else if (state.sync != Slot{}) {
    Sync& sync = sync_at(state.sync);
    sync.last_compute_end = now_;
    if (--sync.computing == 0 && sync.phase == Phase::AwaitCompute) finish(sync);
  }
}

void Simulation::arrive(std::uint32_t worker) {
  Worker& state = workers_[worker];
  if (state.state == State::Arriving) {
    const Time served = coordination_.serve(now_);
    if (served > now_) {
      state.state = State::Queued;
      queue_.schedule(Slot{worker}, served, state.tie);
      return;
    }
  }
  hand_over(worker, false);
}

void Simulation::hand_over(std::uint32_t worker, bool early) {
  Worker& state = workers_[worker];
  const Time compute = early ? now_ - state.since : state.mark;
  state.mark = now_;
  if (!early) state.state = State::Waiting;
  deliver(Event::ready(now_, WorkerId{worker}, state.step, compute, early));
}

void Simulation::release(std::uint32_t worker, bool snapshot) {
  Worker& state = workers_[worker];
  if (state.state == State::ComputingLate) {
    state.release_pending = true;
    return;
  }
  if (snapshot) return go_on(worker);
  if (!state.synchronised && !coordination_.immediate()) return answer(worker);
  spent(worker, Spent::Wait, state.since, now_);
  resume(worker, now_);
}

// With a snapshot a worker goes on at once at its ready, of which the policy hears one trip later;
// after a wait for its previous background synchronisation it goes on now.
void Simulation::go_on(std::uint32_t worker) {
  const Worker& state = workers_[worker];
  const Time begin = now_ == state.mark ? state.since : now_;
  spent(worker, Spent::Wait, state.since, begin);
  if (training_) training_->snapshot(worker, begin < now_);
  resume(worker, begin);
}

// Without a synchronisation the answer is one trip under way.
void Simulation::answer(std::uint32_t worker) {
  Worker& state = workers_[worker];
  const Time at = coordination_.serve(now_) + coordination_.latency();
  state.mark += at - now_ - state.since;
  state.state = State::Resuming;
  queue_.schedule(Slot{worker}, at, state.tie);
}

void Simulation::answered(std::uint32_t worker) {
  const Worker& state = workers_[worker];
  const Time asked = std::max(state.since, now_ - state.mark);
  spent(worker, Spent::Wait, state.since, asked);
  spent(worker, Spent::Coordinate, asked, now_);
  resume(worker, now_);
}

void Simulation::resume(std::uint32_t worker, Time begin) {
  if (stopped_) return;  // the run ended earlier in this instant
  if (training_) training_->resumed(worker);
  step_done(worker);
  if (workers_[worker].step >= quota_) {
    leave(worker);
  } else {
    begin_compute(worker, begin);
  }
}

void Simulation::step_done(std::uint32_t worker) {
  Worker& state = workers_[worker];
  statistics_.step_done(now_);
  progress_.advance(state.step++);
  if (progress_.min() >= warmup_) statistics_.open_window(now_);
  connectivity_.reached(progress_.min());
  if (statistics_.steps() >= total_) stopped_ = true;
}

void Simulation::leave(std::uint32_t worker) {
  Worker& state = workers_[worker];
  statistics_.close_window(now_);
  state.state = State::Ended;
  if (state.live == 0) {
    leavers_.push_back(worker);
  } else {
    state.leaving = true;
  }
}

void Simulation::lose(std::uint32_t worker) {
  Worker& state = workers_[worker];
  if (state.lost || (state.state == State::Ended && !state.leaving)) return;
  statistics_.close_window(now_);
  connectivity_.stop();
  queue_.cancel(Slot{worker});
  computation_.end(worker);
  const auto is_it = [worker](PackedMember member) { return index(member.worker()) == worker; };
  std::vector<Sync*> broken;
  for (const auto& block : syncs_)
    for (Sync& sync : *block)
      if (std::ranges::any_of(sync.members(), is_it)) broken.push_back(&sync);
  if (reports(state)) computed(worker, state.since + state.mark);
  const bool computing = state.state == State::Computing || state.state == State::ComputingLate;
  if (computing) spent(worker, Spent::Compute, state.since, now_);
  state.lost = true;
  state.leaving = false;
  progress_.remove(state.step);
  if (training_) training_->lost(worker);
  deliver(Event::lost(now_, WorkerId{worker}));
  for (Sync* sync : broken) fail(*sync);
  state.state = State::Ended;
  if (progress_.live() == 0) stopped_ = true;
}

void Simulation::show(std::uint32_t worker, Spent how, Time begin, Time end,
                      const Sync* sync) const {
  if (sync) {
    observers_.timeline->synchronised(worker, sync->id, sync->members(), begin, end);
  } else {
    observers_.timeline->interval(worker, how, begin, end);
  }
}

}  // namespace cohort
