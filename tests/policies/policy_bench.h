// Steps one registered policy by hand, behind CheckedPolicy, and shows its answers as text: "start
// 0: 1 2; release 3".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policies/checked_policy.h"
#include "policies/errors.h"
#include "policies/registry.h"

namespace cohort {

class PolicyBench {
 public:
  PolicyBench(const std::string& name, const Options& options, const Topology& topology,
              std::uint64_t seed = 1)
      : next_step_(topology.workers()) {
    const auto* entry = find_policy(name);
    policy_ = std::make_unique<CheckedPolicy>(
        make_policy(*entry, resolve(*entry, options), topology, seed), topology);
  }

  std::string ready(std::uint32_t worker) {
    return step(Event::ready(now_, WorkerId{worker}, next_step_[worker]++, Time{1}));
  }
  std::string done(std::uint64_t sync) { return step(Event::done(now_, SyncId{sync}, Time{1})); }
  std::string failed(std::uint64_t sync) { return step(Event::failed(now_, SyncId{sync})); }
  std::string lost(std::uint32_t worker) { return step(Event::lost(now_, WorkerId{worker})); }
  std::string left(std::uint32_t worker) { return step(Event::left(now_, WorkerId{worker})); }

  // Actions of the latest event.
  [[nodiscard]] const Actions& actions() const { return actions_; }

 private:
  std::string step(const Event& event) {
    actions_.clear();
    policy_->step(event, actions_);
    now_ += Time{1};
    std::string text;
    for (const auto& action : actions_.all()) {
      if (!text.empty()) text += "; ";
      if (action.kind == ActionKind::Release) {
        text.append("release ").append(std::to_string(index(action.worker)));
      } else {
        text.append("start ").append(std::to_string(index(action.sync))).append(":");
        for (const auto& member : actions_.members(action))
          text.append(" ").append(std::to_string(index(member.worker)));
      }
    }
    return text;
  }

  std::unique_ptr<CheckedPolicy> policy_;
  std::vector<std::uint64_t> next_step_;
  Time now_{0};
  Actions actions_;
};

// The JSON pointer under which these options are refused on this topology; empty when they are
// accepted.
inline std::string refusal(const std::string& name, const Options& options,
                           const Topology& topology) {
  const auto* entry = find_policy(name);
  try {
    [[maybe_unused]] const auto policy = make_policy(*entry, resolve(*entry, options), topology, 1);
  } catch (const InputError& error) {
    return error.where();
  }
  return {};
}

}  // namespace cohort
