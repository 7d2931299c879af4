#include "tests/simgrid/reference.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "policies/errors.h"
#include "tests/simgrid/platform.h"

namespace cohort {
namespace {

namespace s4u = simgrid::s4u;

// One run. SimGrid switches actors only inside its own calls, so everything between two of them is
// atomic.
class Drive {
 public:
  Drive(const Scenario& scenario, const Topology& topology, const std::vector<s4u::Host*>& hosts)
      : payload_(scenario.workload.payload),
        quota_(*scenario.stop.steps_per_worker),
        trace_(*std::get<Replay>(scenario.stragglers.at(0).model).trace),
        topology_(topology),
        hosts_(hosts),
        policy_(make_policy(*scenario.policy, scenario.options, topology, scenario.seed)),
        start_(s4u::Engine::get_clock()),
        workers_(topology.workers()) {
    for (std::uint32_t w = 0; w < workers_.size(); ++w) {
      workers_[w].wake = s4u::Semaphore::create(0);
      s4u::Actor::create("worker" + std::to_string(w), hosts_[w], [this, w] { live(w); });
    }
  }

  [[nodiscard]] ReferenceResult result() const {
    return {.simulated_seconds = end_ - start_, .synchronisations = synchronisations_};
  }

 private:
  struct Worker {
    s4u::SemaphorePtr wake;
    bool released = false;
    std::vector<SyncId> to_lead;  // groups whose task this worker's actor executes
  };

  [[nodiscard]] Time now() const {
    return Time{static_cast<std::int64_t>((s4u::Engine::get_clock() - start_) * 1e9 + 0.5)};
  }

  void live(std::uint32_t w) {
    Worker& worker = workers_[w];
    for (std::uint64_t step = 0; step < quota_; ++step) {
      const Time compute = trace_.at(w, step);
      s4u::this_actor::sleep_for(static_cast<double>(compute.count()) * 1e-9);
      worker.released = false;
      deliver(Event::ready(now(), WorkerId{w}, step, compute));
      while (!worker.released) {
        if (worker.to_lead.empty()) worker.wake->acquire();
        lead_groups(worker);
      }
    }
    end_ = s4u::Engine::get_clock();
    deliver(Event::left(now(), WorkerId{w}));
  }

  void lead_groups(Worker& worker) {
    while (!worker.to_lead.empty()) {
      const SyncId sync = worker.to_lead.back();
      worker.to_lead.pop_back();
      const Time begin = now();
      execute(groups_.at(index(sync)));
      groups_.erase(index(sync));
      ++synchronisations_;
      deliver(Event::done(now(), sync, now() - begin));
    }
  }

  void execute(std::vector<std::uint32_t> members) {
    std::ranges::sort(members);  // workers are numbered node by node
    const std::size_t g = members.size();
    std::vector<s4u::Host*> hosts(g);
    std::vector<double> bytes(g * g, 0.0);
    for (std::size_t i = 0; i < g; ++i) {
      hosts[i] = hosts_[members[i]];
      bytes[i * g + (i + 1) % g] =
          2.0 * static_cast<double>(g - 1) / static_cast<double>(g) * payload_;
    }
    s4u::this_actor::parallel_execute(hosts, std::vector<double>(g, 0.0), bytes);
  }

  // The policy's step and the note of its answer are atomic; the wake-ups come after.
  void deliver(const Event& event) {
    actions_.clear();
    policy_->step(event, actions_);
    std::vector<std::uint32_t> woken;
    for (const auto& action : actions_.all()) {
      if (action.kind == ActionKind::Release && !action.snapshot) {
        workers_[index(action.worker)].released = true;
        woken.push_back(index(action.worker));
      } else if (action.kind == ActionKind::Start && action.sync_kind == SyncKind::GroupMean) {
        woken.push_back(take_up(action));
      } else {
        throw ContractError("the reference simulator knows group means and plain releases only");
      }
    }
    for (const auto worker : woken) workers_[worker].wake->release();
  }

  std::uint32_t take_up(const Action& start) {
    std::vector<std::uint32_t>& group = groups_[index(start.sync)];
    for (const auto& member : actions_.members(start)) group.push_back(index(member.worker));
    workers_[group.front()].to_lead.push_back(start.sync);
    return group.front();
  }

  double payload_;
  std::uint64_t quota_;
  const ComputeTrace& trace_;
  const Topology& topology_;
  const std::vector<s4u::Host*>& hosts_;
  std::unique_ptr<Policy> policy_;
  double start_;
  double end_ = 0;
  std::uint64_t synchronisations_ = 0;
  std::vector<Worker> workers_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> groups_;
  Actions actions_;
};

void refuse_what_it_does_not_know(const Scenario& scenario) {
  const auto& cluster = scenario.cluster;
  const bool latency =
      cluster.fabric_latency > Time{} || cluster.coordination_latency > Time{} ||
      cluster.coordination_service > Time{} || cluster.communicator_setup > Time{} ||
      std::ranges::any_of(cluster.nic_latency, [](Time latency) { return latency > Time{}; });
  const bool replays = scenario.stragglers.size() == 1 &&
                       std::holds_alternative<Replay>(scenario.stragglers[0].model);
  if (latency || !replays || !scenario.stop.steps_per_worker || !scenario.losses.empty() ||
      !scenario.link_stragglers.empty())
    throw ContractError(
        "the reference simulator takes a replay without latencies, link stragglers or losses");
}

}  // namespace

struct Reference::State {
  std::unique_ptr<s4u::Engine> engine;
  std::map<std::vector<std::uint32_t>, std::vector<s4u::Host*>>
      hosts;  // by the workers of each node
};

Reference::Reference(const std::vector<ClusterSpec>& clusters) : state_(std::make_unique<State>()) {
  int argc = 1;
  char name[] = "reference";
  char* argv[] = {name, nullptr};
  state_->engine = std::make_unique<s4u::Engine>(&argc, argv);
  s4u::Engine::set_config("host/model:ptask_L07");
  s4u::Engine::set_config("host/solver:bmf");
  s4u::Engine::set_config("surf/precision:1e-12");
  s4u::NetZone& root = *s4u::create_full_zone("clusters");
  for (const auto& cluster : clusters)
    state_->hosts[cluster.gpus_per_node] =
        build_platform(root, cluster, Topology(cluster.gpus_per_node));
  root.seal();
}

Reference::~Reference() = default;

ReferenceResult Reference::run(const Scenario& scenario) {
  refuse_what_it_does_not_know(scenario);
  const Topology topology(scenario.cluster.gpus_per_node);
  Drive drive(scenario, topology, state_->hosts.at(scenario.cluster.gpus_per_node));
  const std::clock_t begin = std::clock();
  state_->engine->run();
  auto result = drive.result();
  result.cpu_seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return result;
}

}  // namespace cohort
