#include "experiments/recorder.h"

#include <fmt/format.h>

#include "experiments/file_descriptor.h"
#include "experiments/resolved.h"

namespace cohort {
namespace {

std::filesystem::path part(const std::filesystem::path& directory, std::size_t number) {
  return directory / fmt::format("events-{}.part", number + 1);
}

Topology topology_of(const Scenario& scenario) {
  return Topology(scenario.cluster.gpus_per_node,
                  servers_needed(*scenario.policy, scenario.options));
}

// What a replay needs to make the policy again.
std::string head_of(const Scenario& scenario) {
  Json run = resolved_json(PolicyChoice{scenario.policy, scenario.options, scenario.label});
  run["seed"] = scenario.seed;
  run["gpus_per_node"] = scenario.cluster.gpus_per_node;
  run["servers"] = servers_needed(*scenario.policy, scenario.options);
  return Json{{"run", std::move(run)}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void check(const std::ios& stream, const std::filesystem::path& path) {
  if (!stream) throw_errno(path, "write");
}

}  // namespace

Recorder::Recorder(const std::filesystem::path& directory, std::size_t number,
                   const Scenario& scenario, bool timeline)
    : directory_(directory),
      number_(number),
      events_path_(part(directory, number)),
      events_(events_path_, std::ios::binary | std::ios::trunc),
      log_(events_) {
  check(events_, events_path_);
  events_ << head_of(scenario);
  if (timeline) timeline_.emplace();
}

SimulateOptions Recorder::options() {
  return {.log = &log_, .timeline = timeline_ ? &*timeline_ : nullptr};
}

void Recorder::finish(const Scenario& scenario) {
  events_.flush();
  check(events_, events_path_);
  if (!timeline_) return;
  const auto path =
      directory_ / (number_ == 0 ? "timeline.json" : fmt::format("timeline-{}.json", number_ + 1));
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  timeline_->write(out, topology_of(scenario));
  out.flush();
  check(out, path);
}

void join_events(const std::filesystem::path& directory, std::size_t count) {
  const auto joined = directory / "events.jsonl.part";
  {
    std::ofstream out(joined, std::ios::binary | std::ios::trunc);
    for (std::size_t i = 0; i < count; ++i)
      out << std::ifstream(part(directory, i), std::ios::binary).rdbuf();
    out.flush();
    check(out, joined);
  }
  std::filesystem::rename(joined, directory / "events.jsonl");
  remove_parts(directory, count);
}

void remove_parts(const std::filesystem::path& directory, std::size_t count) {
  std::error_code ignored;
  for (std::size_t i = 0; i < count; ++i) std::filesystem::remove(part(directory, i), ignored);
  std::filesystem::remove(directory / "events.jsonl.part", ignored);
}

}  // namespace cohort
