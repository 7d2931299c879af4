#include "tests/policies/policy_script.h"

#include <array>

namespace cohort {
namespace {

std::string text_of(const Member& member) {
  constexpr std::array kRoles = {"", ":background", ":passive", ":forwarder", ":source", ":server"};
  return std::to_string(index(member.worker)) + kRoles.at(static_cast<std::size_t>(member.role));
}

std::string text_of(const Action& action, const Actions& actions) {
  switch (action.kind) {
    case ActionKind::Start: {
      std::string text = "start " + std::to_string(index(action.sync));
      if (action.sync_kind == SyncKind::NeighbourMix)
        text += " step " + std::to_string(action.step);
      if (action.sync_kind == SyncKind::ServerPush) text += " push";
      if (action.sync_kind == SyncKind::ServerPull) text += " pull";
      const char* separator = " [";
      for (const auto& member : actions.members(action)) {
        text += separator + text_of(member);
        separator = " ";
      }
      return text + "]";
    }
    case ActionKind::Release:
      return (action.snapshot ? "snapshot " : "release ") + std::to_string(index(action.worker));
    case ActionKind::SetTimer:
      return "timer " + std::to_string(index(action.timer)) + " at " +
             std::to_string(action.at.count());
    case ActionKind::CancelTimer:
      return "cancel " + std::to_string(index(action.timer));
  }
  return "";
}

}  // namespace

PolicyScript::PolicyScript(const std::string& name, const Options& given,
                           const std::vector<std::uint32_t>& gpus_per_node, std::uint64_t seed) {
  const auto& entry = *find_policy(name);
  const auto resolved = resolve(entry, given);
  const Topology topology(gpus_per_node, servers_needed(entry, resolved));
  policy_ = std::make_unique<CheckedPolicy>(make_policy(entry, resolved, topology, seed), topology);
  steps_.resize(topology.workers());
}

std::string PolicyScript::ready(std::uint32_t worker) {
  return deliver(Event::ready(now_, WorkerId{worker}, steps_[worker]++, Time{1}));
}
std::string PolicyScript::done(std::uint64_t sync) {
  return deliver(Event::done(now_, SyncId{sync}, Time{1}));
}
std::string PolicyScript::failed(std::uint64_t sync) {
  return deliver(Event::failed(now_, SyncId{sync}));
}
std::string PolicyScript::left(std::uint32_t worker) {
  return deliver(Event::left(now_, WorkerId{worker}));
}
std::string PolicyScript::lost(std::uint32_t worker) {
  return deliver(Event::lost(now_, WorkerId{worker}));
}
std::string PolicyScript::fired(std::uint64_t timer, Time at) {
  now_ = at;
  return deliver(Event::fired(at, TimerId{timer}));
}

std::string PolicyScript::deliver(const Event& event) {
  Actions actions;
  policy_->step(event, actions);
  std::string text;
  for (const auto& action : actions.all()) {
    text += (text.empty() ? "" : "; ") + text_of(action, actions);
    if (action.kind != ActionKind::Start) continue;
    const auto members = actions.members(action);
    members_.assign(members.begin(), members.end());
  }
  return text;
}

Options option(const std::string& name, OptionValue value) {
  Options options;
  options.set(name, std::move(value));
  return options;
}

std::string place_of_refusal(const std::string& name, const Options& given,
                             const Topology& topology) {
  const auto& entry = *find_policy(name);
  try {
    (void)make_policy(entry, resolve(entry, given), topology, 1);
  } catch (const InputError& error) {
    return error.where();
  }
  return "accepted";
}

}  // namespace cohort
