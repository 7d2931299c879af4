#include "training/idle_run.h"

#include <deque>
#include <utility>

#include "policies/errors.h"

namespace cohort {
namespace {

class IdleDriver {
 public:
  IdleDriver(Policy& policy, const Topology& topology)
      : policy_(policy), next_step_(topology.workers()) {
    for (std::uint32_t w = 0; w < topology.workers(); ++w) computing_.push_back(WorkerId{w});
  }

  [[nodiscard]] IdleRound round() {
    if (computing_.empty()) throw ContractError("mixing: the policy starves every worker");
    IdleRound started;
    for (const auto worker : std::exchange(computing_, {}))
      due_.push_back(Event::ready(now_, worker, next_step_[index(worker)]++, Time{1}));
    now_ += Time{1};
    while (!due_.empty() || !timers_.empty()) {
      auto& queue = due_.empty() ? timers_ : due_;
      auto event = queue.front();
      queue.pop_front();
      event.at = now_;
      actions_.clear();
      policy_.step(event, actions_);
      carry_out(started);
    }
    return started;
  }

 private:
  void carry_out(IdleRound& started) {
    for (const auto& action : actions_.all()) {
      switch (action.kind) {
        case ActionKind::Start: {
          const auto members = actions_.members(action);
          started.push_back({action.sync_kind, action.step, {members.begin(), members.end()}});
          due_.push_back(Event::done(now_, action.sync, Time{1}));
          break;
        }
        case ActionKind::Release:
          computing_.push_back(action.worker);
          break;
        case ActionKind::SetTimer:
          timers_.push_back(Event::fired(now_, action.timer));
          break;
        case ActionKind::CancelTimer:
          std::erase_if(timers_, [&](const Event& event) { return event.timer == action.timer; });
          break;
      }
    }
  }

  Policy& policy_;
  Time now_{0};
  std::vector<std::uint64_t> next_step_;
  std::vector<WorkerId> computing_;
  std::deque<Event> due_;
  std::deque<Event> timers_;
  Actions actions_;
};

}  // namespace

std::vector<IdleRound> idle_run(Policy& policy, const Topology& topology, std::uint32_t rounds) {
  IdleDriver driver(policy, topology);
  std::vector<IdleRound> all;
  for (std::uint32_t i = 0; i < rounds; ++i) all.push_back(driver.round());
  return all;
}

}  // namespace cohort
