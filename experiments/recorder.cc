#include "experiments/recorder.h"

#include "experiments/file_descriptor.h"
#include "experiments/resolved.h"

namespace cohort {
namespace {

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

Recorder::Recorder(std::filesystem::path file, const Scenario& scenario)
    : file_(std::move(file)), events_(file_, std::ios::binary | std::ios::trunc), log_(events_) {
  check(events_, file_);
  events_ << head_of(scenario);
}

void Recorder::finish() {
  events_.flush();
  check(events_, file_);
}

void write_timeline(const std::filesystem::path& file, const Timeline& timeline,
                    const Scenario& scenario) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  timeline.write(out, topology_of(scenario));
  out.flush();
  check(out, file);
}

void join_files(const std::vector<std::filesystem::path>& parts,
                const std::filesystem::path& file) {
  auto joined = file;
  joined += ".part";
  {
    std::ofstream out(joined, std::ios::binary | std::ios::trunc);
    for (const auto& part : parts) out << std::ifstream(part, std::ios::binary).rdbuf();
    out.flush();
    check(out, joined);
  }
  std::filesystem::rename(joined, file);
}

}  // namespace cohort
