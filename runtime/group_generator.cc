#include "runtime/group_generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "policies/errors.h"
#include "runtime/codec.h"
#include "runtime/group_generator_state.h"

namespace cohort {
namespace {

std::string in_seconds(Time time) {
  return fmt::format("{:.3f} s", std::chrono::duration<double>(time).count());
}

std::string loss_not_finite(std::uint32_t worker, std::uint64_t step) {
  return InputError("/workload/training",
                    fmt::format("training diverged: the loss of worker {}, step {}, is not finite; "
                                "allowed: a finite one, which a smaller learning rate may give",
                                worker, step))
      .what();
}

}  // namespace

GroupGenerator::State::State(const RunSetup& given, Outbox& out, ActionLog* log)
    : setup(given),
      outbox(out),
      policy(make_policy(*setup.policy, setup.options, setup.topology, setup.seed), setup.topology,
             log),
      step_times(setup.base, setup.stragglers, setup.topology, setup.seed),
      communicators(setup.topology.workers(), setup.communicator_cache),
      workers(setup.topology.workers()),
      lost(setup.topology.workers() + setup.topology.servers()),
      computing(setup.topology.workers()),
      remaining(setup.topology.workers()) {
  if (setup.steps_per_worker == 0U || setup.total_steps == 0U)
    throw ContractError("real run: a stop rule of no steps");
}

void GroupGenerator::State::at(Time time) { now = std::max(now, time - origin); }

void GroupGenerator::State::begin() {
  phase = Phase::Running;
  for (std::uint32_t worker = 0; worker < workers.size(); ++worker)
    deliver(Event::joined(now, WorkerId{worker}));
  for (std::uint32_t worker = 0; worker < workers.size(); ++worker) compute(worker, false);
}

void GroupGenerator::State::deliver(const Event& event) {
  actions.clear();
  policy.step(event, actions);
  for (const auto& action : actions.all())
    if (phase == Phase::Running) carry_out(action);
}

void GroupGenerator::State::carry_out(const Action& action) {
  switch (action.kind) {
    case ActionKind::Start:
      return start(action);
    case ActionKind::Release:
      return release(index(action.worker), action.snapshot);
    case ActionKind::SetTimer:
      timers.insert(index(action.timer));
      return outbox.set_timer(action.timer, origin + action.at);
    case ActionKind::CancelTimer:
      timers.erase(index(action.timer));
      return outbox.cancel_timer(action.timer);
  }
}

// After each event from outside.
void GroupGenerator::State::settle() {
  say_goodbye();
  if (phase == Phase::Stopping && live.empty()) end("");
  if (phase != Phase::Running) return;
  if (remaining == 0) return end("");
  if (computing == 0 && timers.empty() && live.empty())
    throw ContractError("P3: " + policy.stuck());
}

void GroupGenerator::State::say_goodbye() {
  for (std::size_t i = 0; i < leavers.size(); ++i) {  // grows while the policy answers
    auto& worker = workers[leavers[i]];
    // The policy may have taken it into another synchronisation before it could leave.
    if (worker.live > 0 || worker.life != Life::Leaving || phase != Phase::Running) continue;
    worker.life = Life::Left;
    --remaining;
    record.elapsed = now;
    deliver(Event::left(now, WorkerId{leavers[i]}));
  }
  leavers.clear();
}

void GroupGenerator::State::ready(std::uint32_t member, const message::Ready& message) {
  if (member >= workers.size()) throw FrameError("a server reports a step");
  auto& worker = workers[member];
  if (worker.life != Life::Computing || message.step != worker.step)
    throw FrameError("step " + std::to_string(message.step) + " is reported out of turn");
  if (message.began < Time{} || message.ended < message.began)
    throw FrameError("a step ends before it begins");
  if (worker.step > 0) record.steps[worker.timing].resumed = message.began - origin;
  worker.timing = record.steps.size();
  record.steps.push_back({.worker = WorkerId{member},
                          .step = worker.step,
                          .work = worker.work,
                          .began = message.began - origin,
                          .ended = message.ended - origin,
                          .arrived = now,
                          .resumed = now,
                          .sync = std::nullopt});
  worker.life = Life::Waiting;
  --computing;
  deliver(Event::ready(now, WorkerId{member}, worker.step, message.ended - message.began));
}

void GroupGenerator::State::diverged(std::uint32_t member, const message::Diverged& message) {
  if (member >= workers.size() || workers[member].life != Life::Computing ||
      message.step != workers[member].step)
    throw FrameError("a step diverges out of turn");
  stop(loss_not_finite(member, message.step));
}

void GroupGenerator::State::release(std::uint32_t number, bool snapshot) {
  auto& worker = workers[number];
  record.steps[worker.timing].resumed = now;
  ++worker.step;
  if (++steps == setup.total_steps) return stop("");
  if (worker.step == setup.steps_per_worker) {
    worker.life = Life::Leaving;
    send(number, message::Release{worker.step, Time{}, snapshot, true});
    if (worker.live == 0) leavers.push_back(number);
  } else {
    compute(number, snapshot);
  }
}

void GroupGenerator::State::compute(std::uint32_t number, bool snapshot) {
  auto& worker = workers[number];
  if (worker.life != Life::Computing) ++computing;
  worker.life = Life::Computing;
  worker.work = step_times(WorkerId{number}, worker.step);
  send(number, message::Release{worker.step, worker.work, snapshot, false});
}

// One live synchronisation less.
void GroupGenerator::State::leave(std::uint32_t number) {
  auto& worker = workers[number];
  if (--worker.live == 0 && worker.life == Life::Leaving) leavers.push_back(number);
}

void GroupGenerator::State::lose(std::uint32_t member, const std::string& reason) {
  lost[member] = true;
  const auto broken = syncs_of(member);
  const bool server = member >= workers.size();
  const bool was_left = !server && workers[member].life == Life::Left;
  const auto sentence =
      fmt::format("{} was lost after {}, {}in {}: {}", name(member), in_seconds(now),
                  was_left ? "when it had left, " : "", names_of(broken), reason);
  record.lost.push_back(sentence);
  record.elapsed = now;
  const bool fatal = setup.on_loss == OnLoss::Fail || server || (was_left && !broken.empty());
  const bool heard = phase == Phase::Running && !server && !was_left;
  if (fatal) phase = Phase::Stopping;  // the policy hears of the loss, but nobody acts any more
  if (!server && !was_left) lose_worker(workers[member]);
  if (heard) deliver(Event::lost(now, WorkerId{member}));
  if (fatal) return end(sentence);
  if (remaining == 0 && std::ranges::find(workers, Life::Left, &Worker::life) == workers.end())
    return end("all workers were lost; " + sentence);
  for (const auto sync : broken)
    if (const auto found = live.find(sync); found != live.end()) abort(found);
}

void GroupGenerator::State::lose_worker(Worker& worker) {
  if (worker.life == Life::Computing) --computing;
  worker.life = Life::Lost;
  --remaining;
}

void GroupGenerator::State::stop(const std::string& failure) {
  phase = Phase::Stopping;
  record.elapsed = now;
  record.failure = failure;
  if (!live.empty()) outbox.set_timer(kStopTimer, origin + now + kStopLimit);
}

void GroupGenerator::State::end(const std::string& failure) {
  if (phase == Phase::Running) record.elapsed = now;
  phase = Phase::Ended;
  if (record.failure.empty()) record.failure = failure;
  record.communicators = communicators.counts();
  for (const auto& [id, sync] : live) timing(sync).failed = true;
  live.clear();
}

void GroupGenerator::State::send(std::uint32_t member, const Message& message) {
  if (!lost[member]) outbox.send(member, message);
}

std::string GroupGenerator::State::name(std::uint32_t member) const {
  const auto count = static_cast<std::uint32_t>(workers.size());
  return member < count ? "worker " + std::to_string(member)
                        : "server " + std::to_string(member - count);
}

GroupGenerator::GroupGenerator(const RunSetup& setup, Outbox& outbox, ActionLog* log)
    : state_(std::make_unique<State>(setup, outbox, log)) {}

GroupGenerator::~GroupGenerator() = default;

void GroupGenerator::begin(Time at) {
  state_->origin = at;
  state_->begin();
  state_->settle();
}

void GroupGenerator::receive(std::uint32_t member, const Message& message, Time at) {
  auto& state = *state_;
  if (state.phase == State::Phase::Ended) return;
  state.at(at);
  if (const auto* ready = std::get_if<message::Ready>(&message)) {
    if (state.phase == State::Phase::Running) state.ready(member, *ready);
  } else if (const auto* diverged = std::get_if<message::Diverged>(&message)) {
    if (state.phase == State::Phase::Running) state.diverged(member, *diverged);
  } else if (const auto* done = std::get_if<message::Done>(&message)) {
    state.done(member, *done);
  } else if (const auto* failed = std::get_if<message::Failed>(&message)) {
    state.failed(member, *failed);
  } else if (const auto* rendezvous = std::get_if<message::Rendezvous>(&message)) {
    state.pass_on(member, *rendezvous);
  } else {
    throw FrameError("a message out of turn in a run");
  }
  state.settle();
}

void GroupGenerator::lose(std::uint32_t member, const std::string& reason, Time at) {
  auto& state = *state_;
  if (state.phase == State::Phase::Ended || state.lost[member]) return;
  state.at(at);
  state.lose(member, reason);
  state.settle();
}

void GroupGenerator::fire(TimerId timer, Time at) {
  auto& state = *state_;
  if (state.phase == State::Phase::Ended) return;
  state.at(at);
  if (timer == kStopTimer) {
    state.end("the last synchronisations did not end in time: " + state.unreported());
  } else if (index(timer) >= kOwnTimers) {
    state.overdue(index(timer) - kOwnTimers);
  } else if (state.phase == State::Phase::Running) {
    state.timers.erase(index(timer));
    state.deliver(Event::fired(state.now, timer));
  }
  state.settle();
}

void GroupGenerator::stop(const std::string& failure, Time at) {
  auto& state = *state_;
  if (state.phase != State::Phase::Running) return;
  state.at(at);
  state.stop(failure);
  state.settle();
}

bool GroupGenerator::ended() const { return state_->phase == State::Phase::Ended; }

Time GroupGenerator::origin() const { return state_->origin; }

std::string GroupGenerator::stuck() const {
  const auto unreported = state_->unreported();
  return state_->policy.stuck() + (unreported.empty() ? "" : "; " + unreported);
}

RunRecord& GroupGenerator::record() { return state_->record; }

}  // namespace cohort
