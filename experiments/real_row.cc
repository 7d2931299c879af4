#include "experiments/real_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <tuple>

#include "experiments/step_split.h"
#include "policies/packed_member.h"
#include "policies/smart.h"
#include "sim/connectivity.h"
#include "sim/progress.h"
#include "sim/statistics.h"
#include "sim/transfer_plan.h"
#include "sim/virtual_training.h"

namespace cohort {
namespace {

std::uint64_t warmup_of(const Scenario& scenario) {
  const auto& quota = scenario.stop.steps_per_worker;
  return scenario.warmup_steps.value_or(quota ? std::min<std::uint64_t>(10, *quota / 10) : 10);
}

std::vector<PackedMember> members_of(const SyncTiming& sync) {
  std::vector<PackedMember> members;
  for (const auto& timing : sync.members) members.emplace_back(timing.member);
  return members;
}

TransferPlanner::Options link_options(const Options& options) {
  TransferPlanner::Options result;
  if (options.has("duplex")) result.duplex = options.get<bool>("duplex");
  return result;
}

class Measured {
 public:
  Measured(const Scenario& scenario, const RunRecord& record)
      : scenario_(scenario),
        record_(record),
        topology_(topology_of(scenario)),
        split_(split_steps(record, topology_.workers())),
        quota_(scenario.stop.steps_per_worker.value_or(UINT64_MAX)),
        limit_(scenario.stop.seconds.value_or(Time::max())) {
    for (auto& steps : split_.steps)
      for (auto& step : steps) step.done = step.done && step.timing->resumed <= limit_;
  }

  [[nodiscard]] ResultRow row() const {
    Statistics statistics;
    if (const auto t0 = window_begin()) statistics.open_window(*t0);
    if (const auto t1 = window_end()) statistics.close_window(*t1);
    for (const auto& steps : split_.steps) add_steps(steps, statistics);
    add_syncs(statistics);
    for (std::uint64_t i = 0; i < split_.conflicts; ++i) statistics.conflict();
    ResultRow row;
    row.policy = scenario_.policy->name;
    row.label = scenario_.label;
    row.seed = scenario_.seed;
    row.workers = topology_.workers();
    statistics.fill(row, record_.elapsed);
    follow_answers(row);
    if (scenario_.options.has("inter_intra"))
      row.inter_intra = uses_inter_intra(scenario_.options, topology_);
    row.communicators_created = record_.communicators.misses;
    row.learning = record_.learning;
    return row;
  }

 private:
  static std::uint64_t done(const std::vector<SplitStep>& steps) {
    return static_cast<std::uint64_t>(std::ranges::count_if(steps, &SplitStep::done));
  }
  // With losses, a worker short of its quota is a lost one.
  [[nodiscard]] bool lost(const std::vector<SplitStep>& steps) const {
    return !record_.lost.empty() && quota_ < UINT64_MAX && done(steps) < quota_;
  }
  // When a worker had its quota or was lost; none: it went on to the end.
  [[nodiscard]] std::optional<Time> end_of(const std::vector<SplitStep>& steps) const {
    if (done(steps) >= quota_) return steps[quota_ - 1].timing->resumed;
    if (!lost(steps)) return std::nullopt;
    if (steps.empty()) return Time{};
    return std::max(steps.back().timing->ended, steps.back().timing->resumed);
  }

  [[nodiscard]] std::optional<Time> window_begin() const {
    const auto warmup = warmup_of(scenario_);
    Time t0{};
    for (const auto& steps : split_.steps) {
      if (done(steps) >= warmup) {
        if (warmup > 0) t0 = std::max(t0, steps[warmup - 1].timing->resumed);
      } else if (!lost(steps)) {
        return std::nullopt;
      }
    }
    return t0;
  }
  [[nodiscard]] std::optional<Time> window_end() const {
    std::optional<Time> t1;
    for (const auto& steps : split_.steps)
      if (const auto end = end_of(steps)) t1 = std::min(t1.value_or(Time::max()), *end);
    return t1;
  }

  void add_steps(const std::vector<SplitStep>& steps, Statistics& statistics) const {
    Time at{};
    if (!steps.empty()) statistics.spent(Spent::Coordinate, at, steps.front().timing->began);
    for (const auto& step : steps) {
      for (const auto& interval : step.intervals) {
        statistics.spent(interval.how, interval.begin, interval.end);
        at = interval.end;
      }
      if (step.done) statistics.step_done(step.timing->resumed);
    }
    // What it computed when the run ended.
    if (!end_of(steps) && at < record_.elapsed)
      statistics.spent(Spent::Compute, at, record_.elapsed);
  }

  [[nodiscard]] bool counts(const SyncTiming& sync) const {
    return !sync.failed && sync.done > Time{} && sync.done <= limit_;
  }
  void add_syncs(Statistics& statistics) const {
    FairShare network;
    TransferPlanner planner(scenario_.cluster, topology_, link_options(scenario_.options), network);
    TransferPlan plan;
    const double payload = scenario_.workload.payload * payload_factor(scenario_);
    for (const auto& sync : record_.syncs) {
      if (!counts(sync)) continue;
      const auto members = members_of(sync);
      const auto blocked = static_cast<std::size_t>(std::ranges::count(
          members, Role::Blocking, [](const PackedMember& member) { return member.role(); }));
      planner.plan(sync.kind, members, payload, plan);
      Time fixed{};
      for (const auto& stage : plan.stages) fixed += stage.latency;
      statistics.synchronised(members.size(), blocked, fixed, plan.inter_node_bytes,
                              plan.intra_node_bytes);
    }
  }

  // An instant of the run as the policy saw it; of one instant, first the synchronisations.
  enum class Kind : std::uint8_t { Joined, StepDone, Ended };
  using Instant = std::tuple<Time, Kind, std::size_t>;  // with the index of the sync or worker

  [[nodiscard]] std::vector<Instant> instants() const {
    std::vector<Instant> result;
    for (std::size_t i = 0; i < record_.syncs.size(); ++i)
      if (counts(record_.syncs[i])) result.emplace_back(record_.syncs[i].done, Kind::Joined, i);
    for (std::size_t worker = 0; worker < split_.steps.size(); ++worker) {
      const auto& steps = split_.steps[worker];
      Time last{};
      for (const auto& step : steps)
        if (step.done) result.emplace_back(last = step.answered, Kind::StepDone, worker);
      if (const auto end = end_of(steps))
        result.emplace_back(lost(steps) ? std::max(last, *end) : last, Kind::Ended, worker);
    }
    std::ranges::sort(result);
    return result;
  }

  void follow_answers(ResultRow& row) const {
    Progress progress(topology_.workers());
    Connectivity connectivity(topology_.workers() + topology_.servers());
    std::vector<std::uint64_t> done(topology_.workers());
    Time now{};
    for (const auto& [at, kind, number] : instants()) {
      if (at > now) progress.settle();
      now = at;
      if (kind == Kind::Joined) {
        connectivity.join(members_of(record_.syncs[number]));
      } else if (kind == Kind::StepDone) {
        progress.advance(done[number]++);
        connectivity.reached(progress.min());
      } else {
        progress.remove(done[number]);
        connectivity.stop();
      }
    }
    if (progress.live() > 0) progress.settle();
    row.max_step_skew = progress.max_skew();
    row.connected = connectivity.connected();
  }

  const Scenario& scenario_;
  const RunRecord& record_;
  Topology topology_;
  SplitRun split_;
  std::uint64_t quota_;
  Time limit_;
};

std::string decimal(Time time) {
  return fmt::format("{}.{:09}", time.count() / 1'000'000'000, time.count() % 1'000'000'000);
}

}  // namespace

Scenario on_nodes(Scenario scenario, const std::vector<std::uint32_t>& gpus_per_node) {
  constexpr double kAny = 1e9;  // bytes do not depend on it
  auto& cluster = scenario.cluster;
  if (cluster.gpus_per_node == gpus_per_node) return scenario;
  const auto nodes = gpus_per_node.size();
  cluster.gpus_per_node = gpus_per_node;
  cluster.nic_bandwidth.assign(nodes, cluster.nic_bandwidth.empty() || !cluster.links.empty()
                                          ? kAny
                                          : cluster.nic_bandwidth.front());
  cluster.nic_latency.assign(nodes,
                             cluster.nic_latency.empty() ? Time{} : cluster.nic_latency.front());
  cluster.nics_per_node = 1;
  cluster.links.clear();
  if (cluster.fabric_bandwidth == 0) cluster.fabric_bandwidth = kAny;
  return scenario;
}

RunSetup setup_of(const Scenario& scenario) {
  RunSetup setup;
  setup.policy = scenario.policy;
  setup.options = scenario.options;
  setup.topology = topology_of(scenario);
  setup.base = base_times(scenario);
  setup.stragglers = scenario.stragglers;
  setup.entries = static_cast<std::uint64_t>(std::ceil(scenario.workload.payload / sizeof(float)));
  setup.entries *= static_cast<std::uint64_t>(payload_factor(scenario));
  setup.training = scenario.training;
  setup.steps_per_worker = scenario.stop.steps_per_worker;
  setup.total_steps = scenario.stop.total_steps;
  setup.seconds = scenario.stop.seconds;
  setup.seed = scenario.seed;
  setup.communicator_cache = scenario.cluster.communicator_cache;
  return setup;
}

ResultRow real_row(const Scenario& scenario, const RunRecord& record) {
  return Measured(scenario, record).row();
}

std::string steps_csv(const RunRecord& record, std::uint32_t workers) {
  std::string text =
      "worker,step,seconds,stretched_seconds,wait_seconds,coordinate_seconds,"
      "communicator_seconds,transfer_seconds,trip_seconds\n";
  for (const auto& steps : split_steps(record, workers).steps) {
    for (const auto& step : steps) {
      std::array<Time, 4> spent{};
      for (const auto& interval : step.intervals)
        spent[static_cast<std::size_t>(interval.how)] += interval.end - interval.begin;
      const auto& [compute, wait, sync, coordinate] = spent;
      const Time trip = std::max(Time{}, step.timing->arrived - step.timing->ended);
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{}\n",
                     index(step.timing->worker), step.timing->step, decimal(step.timing->work),
                     decimal(compute), decimal(wait), decimal(coordinate),
                     decimal(step.communicator), decimal(sync), decimal(trip));
    }
  }
  return text;
}

Timeline real_timeline(const RunRecord& record, std::uint32_t workers) {
  Timeline timeline;
  for (const auto& steps : split_steps(record, workers).steps) {
    for (const auto& step : steps) {
      for (const auto& [how, begin, end, sync] : step.intervals) {
        const auto worker = index(step.timing->worker);
        sync != nullptr ? timeline.synchronised(worker, sync->id, members_of(*sync), begin, end)
                        : timeline.interval(worker, how, begin, end);
      }
    }
  }
  for (const auto& sync : record.syncs) {
    const auto members = members_of(sync);
    for (const auto& [member, received, communicator, began, ended] : sync.members)
      if (member.role != Role::Blocking && member.role != Role::Server && ended > began)
        timeline.background(index(member.worker), sync.id, members, began, ended);
  }
  return timeline;
}

}  // namespace cohort
