#include "tests/policies/random_driver.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "policies/random.h"

namespace cohort {
namespace {

constexpr std::uint64_t kMostEvents = 200'000;

struct Worker {
  std::uint64_t steps = 0;  // done so far
  std::uint64_t quota = 0;
  std::uint32_t memberships = 0;
  bool leaving = false;
  bool left = false;
  bool lost = false;
};

class Driver {
 public:
  Driver(Policy& policy, const Topology& topology, const RandomRun& run)
      : policy_(policy), stream_(run.seed, Purpose::Tie, 0, 0), workers_(topology.workers()) {
    for (std::uint32_t w = 0; w < workers_.size(); ++w) {
      workers_[w].quota = 1 + stream_.below(static_cast<std::uint32_t>(run.most_steps));
      schedule(Event::joined(Time{0}, WorkerId{w}), 0);
      compute(w, Time{0});
    }
    for (std::uint32_t i = 0; i < run.losses; ++i) {
      const auto w = stream_.below(topology.workers());
      schedule(Event::lost(Time{0}, WorkerId{w}), stream_.below(40));
    }
  }

  RunOutcome run() {
    while (!queue_.empty() && !outcome_.endless) {
      const auto event = queue_.begin()->second;
      queue_.erase(queue_.begin());
      if (still_valid(event)) deliver(event);
      outcome_.endless = outcome_.history.size() > kMostEvents;
    }
    for (const auto& worker : workers_) {
      outcome_.finished += worker.left && worker.steps == worker.quota ? 1 : 0;
      outcome_.lost += worker.lost ? 1 : 0;
    }
    return std::move(outcome_);
  }

 private:
  // (time, random tie key, number): distinct, so that nothing is overwritten.
  using Key = std::tuple<Time, std::uint32_t, std::uint64_t>;

  void schedule(Event event, std::uint32_t delay) {
    event.at += Time{delay};
    queue_.emplace(Key{event.at, stream_.next_u32(), scheduled_++}, event);
  }

  void compute(std::uint32_t w, Time now) {
    const auto duration = stream_.below(8) == 0 ? 20 + stream_.below(20) : stream_.below(5);
    schedule(Event::ready(now, WorkerId{w}, workers_[w].steps, Time{duration}), duration);
  }

  // Whether the driver still owes this event: it drops what a loss or a cancellation overtook.
  [[nodiscard]] bool still_valid(const Event& event) const {
    switch (event.kind) {
      case EventKind::WorkerJoined:
      case EventKind::WorkerReady:
      case EventKind::WorkerLost:
        return !workers_[index(event.worker)].left && !workers_[index(event.worker)].lost;
      case EventKind::WorkerLeft:
        return false;  // delivered at once, never queued
      case EventKind::SyncDone:
        return live_.contains(index(event.sync)) && !has_lost(index(event.sync));
      case EventKind::SyncFailed:
        return live_.contains(index(event.sync));
      case EventKind::TimerFired:
        return timers_.contains(index(event.timer));
    }
    return false;
  }

  [[nodiscard]] bool has_lost(std::uint64_t sync) const {
    return std::ranges::any_of(live_.at(sync), [&](auto w) { return workers_[w].lost; });
  }

  void deliver(const Event& event) {
    std::vector<std::uint32_t> ended;
    if (event.kind == EventKind::WorkerReady) ++workers_[index(event.worker)].steps;
    if (event.kind == EventKind::WorkerLost) lose(event);
    if (event.kind == EventKind::TimerFired) timers_.erase(index(event.timer));
    if (event.kind == EventKind::SyncDone || event.kind == EventKind::SyncFailed) {
      ended = live_.at(index(event.sync));
      live_.erase(index(event.sync));
      for (const auto w : ended) --workers_[w].memberships;
    }
    actions_.clear();
    policy_.step(event, actions_);
    outcome_.history.push_back(line_of(event, actions_));
    const std::vector<Action> answer(actions_.all().begin(), actions_.all().end());
    for (const auto& action : answer) carry_out(action, event.at);
    leave_if_possible(event.at);
  }

  void lose(const Event& event) {
    const auto w = index(event.worker);
    workers_[w].lost = true;
    for (const auto& [sync, members] : live_)
      if (std::ranges::count(members, w) > 0)
        schedule(Event::failed(event.at, SyncId{sync}), stream_.below(6));
  }

  void carry_out(const Action& action, Time now) {
    switch (action.kind) {
      case ActionKind::Start:
        start(action, now);
        break;
      case ActionKind::Release: {
        auto& worker = workers_[index(action.worker)];
        worker.leaving = worker.steps == worker.quota;
        if (!worker.leaving) compute(index(action.worker), now);
        break;
      }
      case ActionKind::SetTimer:
        timers_[index(action.timer)] = action.at;
        schedule(Event::fired(action.at, action.timer), stream_.below(3));
        break;
      case ActionKind::CancelTimer:
        timers_.erase(index(action.timer));
        break;
    }
  }

  void start(const Action& action, Time now) {
    auto& members = live_[index(action.sync)];
    for (const auto& member : actions_.members(action)) {
      if (member.role == Role::Server) continue;
      members.push_back(index(member.worker));
      ++workers_[index(member.worker)].memberships;
    }
    const auto transfer = stream_.below(7);
    schedule(Event::done(now, action.sync, Time{transfer}), transfer);
    outcome_.synchronisations += action.member_count >= 2 ? 1 : 0;
  }

  void leave_if_possible(Time now) {
    for (std::uint32_t w = 0; w < workers_.size(); ++w) {
      auto& worker = workers_[w];
      if (!worker.leaving || worker.left || worker.lost || worker.memberships > 0) continue;
      worker.left = true;
      deliver(Event::left(now, WorkerId{w}));
    }
  }

  Policy& policy_;
  Stream stream_;
  std::vector<Worker> workers_;
  std::map<Key, Event> queue_;
  std::uint64_t scheduled_ = 0;
  std::map<std::uint64_t, std::vector<std::uint32_t>> live_;  // workers in it, servers left out
  std::map<std::uint64_t, Time> timers_;
  Actions actions_;
  RunOutcome outcome_;
};

}  // namespace

RunOutcome drive_randomly(Policy& policy, const Topology& topology, const RandomRun& run) {
  return Driver(policy, topology, run).run();
}

std::string line_of(const Event& event, const Actions& actions) {
  std::ostringstream line;
  line << event.at.count() << " event " << static_cast<int>(event.kind) << " worker "
       << index(event.worker) << " step " << event.step << " sync " << index(event.sync)
       << " timer " << index(event.timer) << " ->";
  for (const auto& action : actions.all()) {
    line << " | " << static_cast<int>(action.kind) << ' ' << static_cast<int>(action.sync_kind)
         << ' ' << action.snapshot << ' ' << index(action.worker) << ' ' << index(action.sync)
         << ' ' << action.step << ' ' << index(action.timer) << ' ' << action.at.count();
    for (const auto& member : actions.members(action))
      line << ' ' << index(member.worker) << '/' << static_cast<int>(member.role) << '/'
           << std::hexfloat << member.weight << std::defaultfloat;
  }
  return line.str();
}

}  // namespace cohort
