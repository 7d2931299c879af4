#include "policies/static_schedule.h"

#include <algorithm>
#include <string>

#include "policies/errors.h"
#include "policies/sync_table.h"

namespace cohort {
namespace {

// Each group gathers for one step at a time: no member can reach its next turn before this one
// ended. So one counter a group is enough, although workers are at different steps.
class StaticSchedule final : public Policy {
 public:
  StaticSchedule(const Phases& phases, const Topology& topology)
      : period_(static_cast<std::uint32_t>(phases.size())),
        group_of_(std::size_t{period_} * topology.workers(), kAlone) {
    for (std::uint32_t phase = 0; phase < period_; ++phase)
      for (const auto& members : phases[phase]) {
        for (const auto worker : members)
          group_of_[slot(worker, phase)] = static_cast<std::uint32_t>(groups_.size());
        auto& group = groups_.emplace_back();
        for (const auto worker : members) group.members.push_back(WorkerId{worker});
      }
  }

  void step(const Event& event, Actions& out) override {
    switch (event.kind) {
      case EventKind::WorkerReady:
        ready(event, out);
        break;
      case EventKind::WorkerLeft:
      case EventKind::WorkerLost:
        remove(event.worker, out);
        break;
      case EventKind::SyncDone:
        release_members(end_of(event.sync), out);
        break;
      case EventKind::SyncFailed:
        start_if_complete(end_of(event.sync), out);
        break;
      case EventKind::WorkerJoined:
      case EventKind::TimerFired:
        break;
    }
  }

 private:
  static constexpr std::uint32_t kAlone = 0xffffffff;

  struct Group {
    std::vector<WorkerId> members;  // live workers
    std::vector<WorkerId> ready;    // in the order of their reports
    bool live = false;
  };

  [[nodiscard]] std::size_t slot(std::uint32_t worker, std::uint32_t phase) const {
    return std::size_t{worker} * period_ + phase;
  }

  void ready(const Event& event, Actions& out) {
    const auto phase = static_cast<std::uint32_t>(event.step % period_);
    const auto group = group_of_[slot(index(event.worker), phase)];
    if (group == kAlone) {
      out.release(event.worker);
      return;
    }
    groups_[group].ready.push_back(event.worker);
    start_if_complete(group, out);
  }

  void start_if_complete(std::uint32_t index_of_group, Actions& out) {
    auto& group = groups_[index_of_group];
    if (group.live || group.ready.empty() || group.ready.size() < group.members.size()) return;
    if (group.members.size() == 1) {
      release_members(index_of_group, out);
      return;
    }
    const SyncId sync{next_sync_++};
    live_.insert(sync, index_of_group);
    group.live = true;
    out.start(sync, SyncKind::GroupMean);
    const double weight = 1.0 / static_cast<double>(group.members.size());
    for (const auto member : group.members) out.add_member(member, Role::Blocking, weight);
  }

  void release_members(std::uint32_t group, Actions& out) {
    for (const auto member : groups_[group].members) out.release(member);
    groups_[group].ready.clear();
  }

  std::uint32_t end_of(SyncId sync) {
    const auto* found = live_.find(sync);
    if (found == nullptr)
      throw ContractError("static: synchronisation " + std::to_string(index(sync)) +
                          " is not live");
    const auto group = *found;
    live_.erase(sync);
    groups_[group].live = false;
    return group;
  }

  void remove(WorkerId worker, Actions& out) {
    for (std::uint32_t phase = 0; phase < period_; ++phase) {
      const auto group = group_of_[slot(index(worker), phase)];
      if (group == kAlone) continue;
      std::erase(groups_[group].members, worker);
      std::erase(groups_[group].ready, worker);
      start_if_complete(group, out);
    }
  }

  std::uint32_t period_;
  std::vector<std::uint32_t> group_of_;  // by worker and phase
  std::vector<Group> groups_;
  SyncTable<std::uint32_t> live_;
  std::uint64_t next_sync_ = 0;
};

void add_group(Phase& phase, Group group) {
  if (group.size() > 1) phase.push_back(std::move(group));
}

// Worker `rank` of all nodes together; of the others the local ranks for which `stays(local rank,
// workers on the node)` holds, each node together.
template <typename Stays>
Phase inter_phase(const Topology& topology, std::uint32_t rank, Stays&& stays) {
  Phase phase;
  Group heads;
  for (std::uint32_t node = 0; node < topology.nodes(); ++node)
    if (rank < topology.workers_on(node))
      heads.push_back(index(topology.first_worker_on(node)) + rank);
  add_group(phase, std::move(heads));
  for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
    Group rest;
    for (std::uint32_t local = 0; local < topology.workers_on(node); ++local)
      if (local != rank && stays(local, topology.workers_on(node)))
        rest.push_back(index(topology.first_worker_on(node)) + local);
    add_group(phase, std::move(rest));
  }
  return phase;
}

Phase intra_phase(const Topology& topology) {
  Phase phase;
  for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
    Group all;
    for (std::uint32_t local = 0; local < topology.workers_on(node); ++local)
      all.push_back(index(topology.first_worker_on(node)) + local);
    add_group(phase, std::move(all));
  }
  return phase;
}

Phases schedule(const Options& options, const Topology& topology) {
  const auto given = options.maybe<Phases>("phases");
  return given ? *given : published_schedule(topology);
}

void check_phase(const Phase& phase, const std::string& where, std::uint32_t workers) {
  std::vector<bool> named(workers);
  for (std::size_t g = 0; g < phase.size(); ++g) {
    const auto here = where + "/" + std::to_string(g);
    if (phase[g].empty()) throw InputError(here, "an empty group; name at least one worker");
    for (const auto worker : phase[g]) {
      if (worker >= workers)
        throw InputError(here, "worker " + std::to_string(worker) +
                                   " does not exist; allowed: 0 to " + std::to_string(workers - 1));
      if (named[worker])
        throw InputError(here, "worker " + std::to_string(worker) +
                                   " is named twice in this phase; a worker may be in one group "
                                   "of a phase, once");
      named[worker] = true;
    }
  }
}

void check_static(const Options& options, const Topology& topology) {
  const auto given = options.maybe<Phases>("phases");
  if (!given) return;
  if (given->empty()) throw InputError("/phases", "an empty list; give at least one phase");
  for (std::size_t p = 0; p < given->size(); ++p)
    check_phase((*given)[p], "/phases/" + std::to_string(p), topology.workers());
}

}  // namespace

Phases published_schedule(const Topology& topology) {
  return {
      inter_phase(topology, 0, [](auto local, auto) { return local > 1; }),
      intra_phase(topology),
      inter_phase(topology, 1, [](auto local, auto on_node) { return local != 2 % on_node; }),
      intra_phase(topology),
  };
}

PolicyEntry static_entry() {
  return {.name = "static",
          .where = Where::Local,
          .rule = "A fixed schedule of groups by each worker's own step number.",
          .source = "[Luo 2020]",
          .options = {{.name = "phases",
                       .type = OptionType::Groups,
                       .nullable = true,
                       .description = "phases as lists of groups of workers, repeated; null: the "
                                      "published table of period 4",
                       .source = "[Luo 2020]; SEMANTICS 2"},
                      timing_option(),
                      order_option(),
                      average_momentum_option(),
                      endpoint_bandwidth_option()},
          .make = [](const Options& options, const Topology& topology,
                     std::uint64_t) -> std::unique_ptr<Policy> {
            return std::make_unique<StaticSchedule>(schedule(options, topology), topology);
          },
          .check = check_static};
}

}  // namespace cohort
