#include "sim/simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policies/errors.h"
#include "policies/prefetch.h"
#include "policies/smart.h"
#include "sim/timeline.h"
#include "traces/units.h"

namespace cohort {
namespace {

// Workers from which on the run looks ahead. Between what was measured: a loss at 16, a gain at
// 100,000; the border is a guess.
constexpr std::size_t kLarge = 4'096;

TransferPlanner::Options planner_options(const Options& options) {
  TransferPlanner::Options out;
  if (options.has("endpoint_bandwidth"))
    out.endpoint_bandwidth = options.maybe<double>("endpoint_bandwidth");
  if (options.has("duplex")) out.duplex = options.get<bool>("duplex");
  return out;
}

// The share of a step's own work after which its gradients begin to move (SEMANTICS 3, overlap).
double early_share(const Scenario& scenario) {
  const auto& workload = scenario.workload;
  const bool overlap = scenario.options.has("overlap") && scenario.options.get<bool>("overlap");
  return overlap ? 1 - workload.backward_share * (1 - 1.0 / workload.buckets) : 1;
}

}  // namespace

Simulation::Simulation(const Scenario& scenario, const SimulateOptions& options)
    : scenario_(scenario),
      observers_(options),
      topology_(topology_of(scenario)),
      policy_(make_policy(*scenario.policy, scenario.options, topology_, scenario.seed), topology_,
              options.log),
      ties_(scenario.seed),
      planner_(scenario.cluster, topology_, planner_options(scenario.options), network_),
      transfers_(queue_, network_),
      coordination_(scenario.cluster.coordination_hosted ? Where::Central : scenario.policy->where,
                    scenario.cluster.coordination_latency, scenario.cluster.coordination_service),
      report_(coordination_.queues() || scenario.workload.interference > 0 || scenario.training
                  ? Time{}
                  : coordination_.latency()),
      computation_(queue_, topology_.workers(), scenario.workload.interference, report_),
      step_times_(base_times(scenario), scenario.stragglers, topology_, scenario.seed),
      training_(make_virtual_training(scenario, topology_, options)),
      payload_(scenario.workload.payload * payload_factor(scenario)),
      progress_(topology_.workers()),
      connectivity_(topology_.workers() + topology_.servers()),
      early_share_(early_share(scenario)),
      workers_(topology_.workers()) {
  if (scenario.cluster.nic_window > 0)
    receive_queues_.emplace(scenario.cluster.nic_window, planner_.links(), transfers_);
  if (scenario.cluster.communicator_setup > Time{})
    communicators_.emplace(topology_.workers(), scenario.cluster.communicator_cache);
}

void Simulation::prepare() {
  const auto& stop = scenario_.stop;
  quota_ = stop.steps_per_worker.value_or(UINT64_MAX);
  total_ = stop.total_steps.value_or(UINT64_MAX);
  limit_ = stop.seconds.value_or(Time::max());
  const std::uint64_t usual = stop.steps_per_worker ? std::min<std::uint64_t>(10, quota_ / 10) : 10;
  warmup_ = scenario_.warmup_steps.value_or(usual);
  if (warmup_ == 0) statistics_.open_window(Time{});
  if (observers_.steps) drawn_.resize(workers_.size());
  queue_.grow(topology_.workers());
  queue_.reserve(topology_.workers() + 64);
  large_ = workers_.size() >= kLarge;
  nic_factor_.assign(topology_.nodes(), 1);
  for (std::uint32_t model = 0; model < scenario_.link_stragglers.size(); ++model)
    for (const auto node : scenario_.link_stragglers[model].nodes)
      switches_.push_back(
          {LinkSwitches(scenario_.link_stragglers[model], model, scenario_.seed), node});
  for (std::uint64_t i = 0; i < switches_.size(); ++i) {
    const auto hold = switches_[i].spells.hold(switches_[i].node, 0);
    if (!hold) continue;
    queue_.schedule(new_slot(Extra::LinkSwitch, i), *hold, static_cast<std::uint32_t>(i));
    ++idle_events_;
  }
  for (std::uint64_t i = 0; i < scenario_.losses.size(); ++i) {
    queue_.schedule(new_slot(Extra::Loss, i), scenario_.losses[i].at,
                    static_cast<std::uint32_t>(i));
    ++idle_events_;
  }
}

ResultRow Simulation::run() {
  prepare();
  for (std::uint32_t worker = 0; worker < workers_.size(); ++worker)
    deliver(Event::joined(now_, WorkerId{worker}));
  if (quota_ == 0 || total_ == 0) throw ContractError("simulate: a stop rule of no steps");
  for (std::uint32_t worker = 0; worker < workers_.size(); ++worker) begin_compute(worker, now_);
  while (!stopped_) {
    if ((queue_.empty() || queue_.top().at > now_) && !end_instant()) break;
    const auto [at, slot] = queue_.pop();
    now_ = at;
    if (large_) look_ahead();
    dispatch(slot);
    if (!leavers_.empty()) say_goodbye();
  }
  progress_.settle();
  fold_open_intervals();
  ResultRow row = result();
  if (training_) row.learning = training_->finish(now_);
  return row;
}

// Prefetches what the events to come need, in steps, because one thing says where the next one is.
void Simulation::look_ahead() const {
  constexpr unsigned kSteps = 5, kBetween = EventQueue::kInSight / kSteps;  // events
  for (unsigned step = 0; step < kSteps; ++step)
    if (const auto slot = queue_.peek((kSteps - step) * kBetween)) expect(*slot, step);
}

void Simulation::expect(Slot slot, unsigned step) const {
  const auto i = static_cast<std::uint32_t>(slot);
  if (i < workers_.size()) {
    if (step == 0) prefetch(&workers_[i]);
    if (step < 4) policy_.expect(WorkerId{i}, step);
    return;
  }
  const ExtraSlot& extra = extras_[i - workers_.size()];
  if (step == 0) return prefetch(&extra);
  if (extra.kind == Extra::Sync) expect(sync(extra.number), step - 1);
}

void Simulation::expect(const Sync& sync, unsigned step) const {
  constexpr std::size_t kMost = 16;
  if (step == 0) {
    prefetch(&sync);
    prefetch(reinterpret_cast<const char*>(&sync) + sizeof(Sync) / 2);
    return;
  }
  if (sync.moves) transfers_.expect(sync.transfer, step - 1);
  if (sync.phase == Phase::Fixed) return;
  policy_.expect_end(sync.id, step - 1);
  if (step > 1 || sync.members().size() > kMost) return;
  for (const auto member : sync.members()) {
    if (member.role() == Role::Server) continue;
    prefetch(&workers_[index(member.worker())]);
    policy_.expect(member.worker(), 0);
  }
}

// Settles what the instant has changed; false when the run ends before the next one: at its time
// limit, or at the loss it was to reach.
bool Simulation::end_instant() {
  progress_.settle();
  if (transfers_.dirty()) transfers_.settle(now_);
  if (queue_.size() == idle_events_) starved();
  if (training_ && reached_target()) return false;
  if (queue_.top().at <= limit_) return true;
  now_ = limit_;
  return false;
}

bool Simulation::reached_target() {
  const auto reached =
      training_->measure(now_, std::min(queue_.top().at, limit_), statistics_.steps());
  if (reached) now_ = *reached;
  return reached.has_value();
}

void Simulation::starved() const { throw ContractError("P3: " + policy_.stuck()); }

void Simulation::dispatch(Slot slot) {
  const auto i = static_cast<std::uint32_t>(slot);
  if (i < workers_.size()) {
    worker_event(i);
  } else {
    const ExtraSlot extra = extras_[i - workers_.size()];
    if (extra.kind == Extra::Sync) {
      sync_event(sync(extra.number));
    } else {
      dispatch_extra(extra, slot);
    }
  }
}

void Simulation::dispatch_extra(const ExtraSlot& extra, Slot slot) {
  if (extra.kind == Extra::Timer) {
    timers_.erase(extra.number);
    free_slot(slot);
    deliver(Event::fired(now_, TimerId{extra.number}));
  } else if (extra.kind == Extra::LinkSwitch) {
    switch_nic(extra.number, slot);
  } else {
    --idle_events_;
    free_slot(slot);
    lose(index(scenario_.losses[extra.number].worker));
  }
}

void Simulation::deliver(const Event& event) {
  actions_.clear();
  policy_.step(event, actions_);
  for (const auto& action : actions_.all()) carry_out(action);
}

void Simulation::carry_out(const Action& action) {
  switch (action.kind) {
    case ActionKind::Start:
      return start(action);
    case ActionKind::Release:
      return release(index(action.worker), action.snapshot);
    case ActionKind::SetTimer:
      return set_timer(action);
    case ActionKind::CancelTimer:
      return cancel_timer(action.timer);
  }
}

void Simulation::say_goodbye() {
  for (std::size_t i = 0; i < leavers_.size(); ++i) {  // grows while the policy answers
    const std::uint32_t worker = leavers_[i];
    if (workers_[worker].live > 0) {  // the policy took it into another one before it could leave
      workers_[worker].leaving = true;
      continue;
    }
    progress_.remove(workers_[worker].step);
    connectivity_.stop();
    deliver(Event::left(now_, WorkerId{worker}));
  }
  leavers_.clear();
  if (progress_.live() == 0) stopped_ = true;
}

void Simulation::fold_open_intervals() {
  for (const auto& block : syncs_)
    for (const auto& sync : *block)
      for (const auto member : sync.members()) account(sync, member, now_);
  for (std::uint32_t worker = 0; worker < workers_.size(); ++worker) {
    const Worker& state = workers_[worker];
    if (state.state == State::Ended) continue;
    if (reports(state)) computed(worker, state.since + state.mark);
    const bool computing = state.state == State::Computing || state.state == State::ComputingLate;
    if (state.since < now_)
      spent(worker, computing ? Spent::Compute : Spent::Wait, state.since, now_);
  }
}

void Simulation::switch_nic(std::uint64_t number, Slot slot) {
  NicSwitch& nic = switches_[number];
  ++nic.spell;
  const double factor = nic.spells.spec().factor;
  nic_factor_[nic.node] *= nic.spell % 2 == 1 ? factor : 1 / factor;
  if (std::abs(nic_factor_[nic.node] - 1) < 1e-12) nic_factor_[nic.node] = 1;
  planner_.slow_nic(nic.node, nic_factor_[nic.node]);
  if (const auto hold = nic.spells.hold(nic.node, nic.spell); hold && *hold < Time::max() - now_) {
    queue_.schedule(slot, now_ + *hold, static_cast<std::uint32_t>(number));
  } else {
    --idle_events_;
    free_slot(slot);
  }
}

void Simulation::set_timer(const Action& action) {
  const Slot slot = new_slot(Extra::Timer, index(action.timer));
  timers_[index(action.timer)] = slot;
  queue_.schedule(slot, std::max(now_, action.at), ties_.next());
}

void Simulation::cancel_timer(TimerId timer) {
  const auto found = timers_.find(index(timer));
  if (found == timers_.end()) return;
  queue_.cancel(found->second);
  free_slot(found->second);
  timers_.erase(found);
}

ResultRow Simulation::result() const {
  ResultRow row;
  row.policy = scenario_.policy->name;
  row.label = scenario_.label;
  row.seed = scenario_.seed;
  row.workers = topology_.workers();
  statistics_.fill(row, now_);
  row.max_step_skew = progress_.max_skew();
  row.connected = connectivity_.connected();
  if (scenario_.options.has("inter_intra"))
    row.inter_intra = uses_inter_intra(scenario_.options, topology_);
  if (communicators_) row.communicators_created = communicators_->counts().misses;
  return row;
}

Slot Simulation::new_slot(Extra kind, std::uint64_t number) {
  if (free_slots_.empty()) {
    const auto slot = Slot{static_cast<std::uint32_t>(workers_.size() + extras_.size())};
    extras_.push_back({kind, number});
    queue_.grow(static_cast<std::uint32_t>(workers_.size() + extras_.size()));
    return slot;
  }
  const Slot slot = free_slots_.back();
  free_slots_.pop_back();
  extras_[static_cast<std::uint32_t>(slot) - workers_.size()] = {kind, number};
  return slot;
}

Topology topology_of(const Scenario& scenario) {
  return Topology(scenario.cluster.gpus_per_node,
                  servers_needed(*scenario.policy, scenario.options));
}

std::vector<Time> base_times(const Scenario& scenario) {
  const auto& factors = scenario.cluster.compute_factor;
  const auto& gpus = scenario.cluster.gpus_per_node;
  std::vector<Time> base(std::accumulate(gpus.begin(), gpus.end(), 0U), scenario.workload.compute);
  for (std::size_t i = 0; i < factors.size(); ++i)
    if (factors[i] != 1) base[i] = from_seconds_up(seconds(base[i]) * factors[i]);
  return base;
}

ResultRow simulate(const Scenario& scenario, const SimulateOptions& options) {
  return Simulation(scenario, options).run();
}

}  // namespace cohort
