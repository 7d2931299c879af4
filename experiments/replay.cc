#include "experiments/replay.h"

#include <fmt/format.h>

#include <memory>

#include "experiments/read_cluster.h"
#include "experiments/read_option.h"
#include "experiments/spec_node.h"
#include "policies/checked_policy.h"
#include "policies/errors.h"
#include "policies/registry.h"
#include "traces/run_log.h"
#include "traces/run_log_reader.h"

namespace cohort {
namespace {

// A fresh policy as a head describes it, and what has been fed to it.
struct Repeated {
  std::unique_ptr<Topology> topology;
  std::unique_ptr<CheckedPolicy> policy;
  ReplayedRun run;
};

const PolicyEntry& read_recorded_kind(const SpecNode& node) {
  const auto* entry = find_policy(node.text("the name of a policy"));
  if (entry == nullptr) node.refuse("the name of a policy");
  return *entry;
}

Options read_recorded_options(const SpecNode& node, const PolicyEntry& entry) {
  std::vector<std::string_view> names;
  for (const auto& option : entry.options) names.push_back(option.name);
  node.only_keys(names);
  Options options;
  for (const auto& option : entry.options)
    options.set(option.name, read_resolved_option(node.need(option.name), option));
  return options;
}

Topology read_recorded_topology(const SpecNode& run, std::uint32_t servers) {
  std::vector<std::uint32_t> gpus_per_node;
  const auto list = run.need("gpus_per_node");
  const auto size = list.size("workers on each node");
  if (size == 0) list.refuse("at least one node");
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    gpus_per_node.push_back(static_cast<std::uint32_t>(list.at(i).count(1, kMostWorkers)));
    total += gpus_per_node.back();
    if (total > kMostWorkers) list.refuse(fmt::format("at most {} workers in all", kMostWorkers));
  }
  const auto stated = run.need("servers");
  if (stated.count(0, kMostWorkers) != servers)
    stated.refuse(fmt::format("{}, as the options say", servers));
  return Topology(gpus_per_node, servers);
}

Repeated read_recorded_run(const SpecNode& run) {
  run.only_keys({"kind", "label", "options", "seed", "gpus_per_node", "servers"});
  const auto& entry = read_recorded_kind(run.need("kind"));
  const Options options = read_recorded_options(run.need("options"), entry);
  Repeated repeated;
  repeated.run.label = run.need("label").name();
  repeated.run.seed = run.need("seed").count(0, std::numeric_limits<std::int64_t>::max());
  repeated.topology =
      std::make_unique<Topology>(read_recorded_topology(run, servers_needed(entry, options)));
  repeated.policy = std::make_unique<CheckedPolicy>(
      make_policy(entry, options, *repeated.topology, repeated.run.seed), *repeated.topology);
  return repeated;
}

Repeated begin(const RunLogReader& log) {
  try {
    const Json document = parse_json(log.head(), "");
    const SpecNode head(document);
    head.only_keys({"run"});
    return read_recorded_run(head.need("run"));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", log.place(), error.where()), error.complaint());
  }
}

void feed(const RunLogReader& log, Repeated& repeated, Actions& actions) {
  auto& run = repeated.run;
  ++run.events;
  run.actions += log.actions().all().size();
  actions.clear();
  try {
    repeated.policy->step(log.event(), actions);
  } catch (const ContractError& error) {
    throw InputError(log.place(),
                     fmt::format("this event cannot follow those before it: {}", error.what()));
  }
  const auto recorded = to_text(log.actions());
  auto again = to_text(actions);
  if (again != recorded)
    run.difference = {log.line(), to_text(log.event()), recorded, std::move(again)};
}

}  // namespace

std::vector<ReplayedRun> replay(const std::filesystem::path& path) {
  const auto file = std::filesystem::is_directory(path) ? path / "events.jsonl" : path;
  RunLogReader log(file);
  std::vector<ReplayedRun> runs;
  std::optional<Repeated> current;
  Actions actions;
  const auto finish = [&] {
    if (current) runs.push_back(std::move(current->run));
  };
  for (auto line = log.next(); line != RunLogReader::Line::End; line = log.next()) {
    if (line == RunLogReader::Line::Head) {
      finish();
      current = begin(log);
    } else if (!current) {
      throw InputError(log.place(), "an event before the first {\"run\": ...}");
    } else if (!current->run.difference) {
      feed(log, *current, actions);
    }
  }
  finish();
  if (runs.empty()) throw InputError(file.string(), "holds no run");
  return runs;
}

}  // namespace cohort
