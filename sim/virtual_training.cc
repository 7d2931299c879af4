#include "sim/virtual_training.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "policies/sync_table.h"
#include "sim/learning_curve.h"
#include "sim/local_gradients.h"
#include "sim/replicas.h"
#include "sim/training_server.h"
#include "training/memory_check.h"
#include "training/training_rules.h"

namespace cohort {
namespace {

bool is(const Options& options, const std::string& name, const std::string& value) {
  return options.has(name) && options.get<std::string>(name) == value;
}

// What drivers read of a policy, and what else a training in virtual time must know.
struct Rules : TrainingRules {
  explicit Rules(const Scenario& scenario)
      : TrainingRules(scenario.options, scenario.training->training.sgd),
        background(is(scenario.options, "timing", "background") ||
                   is(scenario.options, "active", "background")),
        keep_ready(background && order == StepOrder::UpdateThenAverage &&
                   scenario.cluster.coordination_latency + scenario.cluster.coordination_service >
                       Time{}),
        publish(scenario.policy->reads_neighbours),
        server(scenario.options.has("servers")),
        each_push(is(scenario.options, "mode", "async")) {}

  bool background;
  bool keep_ready;  // snapshots may be asked for later than the ready that they are of
  bool publish;
  bool server;
  bool each_push;  // is an update
};

// Rows of replicas that a worker can hold at once: its own, the one that its gradient is taken at,
// and what the policy needs.
double rows_of_worker(const Rules& rules) {
  return 2 + (rules.background ? 1 : 0) + (rules.keep_ready ? 1 : 0) + (rules.publish ? 2 : 0);
}

template <typename T>
class Training final : public VirtualTraining {
 public:
  Training(const Scenario& scenario, const Topology& topology, const SimulateOptions& options)
      : rules_(scenario),
        task_(scenario.training->training, *scenario.training->dataset, topology.workers(),
              scenario.seed),
        model_out_(options.model),
        threads_(task_, options.threads),
        rows_(checked_length(topology.workers())),
        vectors_(threads_.parameters()),
        replicas_({.workers = topology.workers(),
                   .parameters = threads_.parameters(),
                   .publish = rules_.publish,
                   .keep_ready = rules_.keep_ready},
                  rows_, initial()),
        workers_(topology.workers()),
        gradients_(task_, threads_, topology.workers()),
        curve_(scenario, task_, threads_) {
    if (rules_.server) server_.emplace(sgd(), rows_, replicas_.of(WorkerId{0}));
    if (has_own_velocities())
      for (const auto zero = zero_vector(); auto& worker : workers_) worker.velocity = zero;
    reached_ = curve_.measure(Time{}, Time{1}, 0, models());
  }

  void begin(std::uint32_t worker, std::uint64_t step) override {
    Worker& state = workers_[worker];
    state.step = step;
    auto read =
        state.goes_on_from ? std::move(*state.goes_on_from) : replicas_.now(WorkerId{worker});
    state.goes_on_from.reset();
    state.changes = server_ ? state.pulled_updates : read.changes;
    gradients_.begin(worker, step, std::move(read.row));
  }

  void computed(std::uint32_t worker) override {
    if (!server_ && rules_.averaged == Averaged::Models &&
        rules_.order == StepOrder::UpdateThenAverage)
      use_own(worker);
    replicas_.ready(WorkerId{worker}, workers_[worker].step);
  }

  void snapshot(std::uint32_t worker, bool at_ready) override {
    if (at_ready && rules_.keep_ready) {
      workers_[worker].goes_on_from = replicas_.snapshot_of_ready(WorkerId{worker});
    } else {
      replicas_.snapshot(WorkerId{worker});
    }
  }

  void resumed(std::uint32_t worker) override {
    if (gradients_.has(worker)) use_own(worker);
  }

  void started(const Action& start, std::span<const Member> members) override {
    Sync sync{start.sync_kind, start.step, {members.begin(), members.end()}};
    if (sync.kind == SyncKind::ServerPull) begin_pull(sync);
    syncs_.insert(start.sync, std::move(sync));
  }

  std::span<const double> done(SyncId id) override {
    const Sync sync = *syncs_.take(id);
    if (sync.kind == SyncKind::ServerPush) {
      if (!rules_.each_push) push(index(sync.members.front().worker));
    } else if (sync.kind == SyncKind::ServerPull) {
      replicas_.set(sync.members.front().worker, sync.pulled);
      workers_[index(sync.members.front().worker)].pulled_updates = sync.updates;
    } else if (rules_.averaged == Averaged::Gradients) {
      use_mean(sync.members);
    } else {
      return replicas_.synchronise(sync.kind, sync.step, sync.members);
    }
    return {};
  }

  void failed(SyncId sync) override { syncs_.erase(sync); }

  void lost(std::uint32_t worker) override {
    gradients_.drop(worker);
    replicas_.forget(WorkerId{worker});
    workers_[worker].velocity.reset();
    workers_[worker].goes_on_from.reset();
    workers_[worker].lost = true;
  }

  std::optional<Time> measure(Time now, Time next, std::uint64_t steps) override {
    if (!reached_ && curve_.due(next, steps)) reached_ = curve_.measure(now, next, steps, models());
    return reached_;
  }

  Learning finish(Time end) override {
    curve_.finish(end, models());
    if (model_out_) model_out_->assign(curve_.model().begin(), curve_.model().end());
    Learning learning;
    learning.learning_rate = sgd().learning_rate;
    learning.momentum = sgd().momentum;
    learning.curve = std::move(curve_.points());
    for (const auto& worker : workers_)
      learning.samples_per_worker.push_back(worker.used * task_.spec().batch);
    if (used_ > 0)
      learning.effective_staleness = static_cast<double>(staleness_) / static_cast<double>(used_);
    return learning;
  }

 private:
  using Version = typename Replicas<T>::Version;

  struct Worker {
    std::uint64_t step = 0;
    std::uint64_t changes = 0;         // of what the gradient in work reads
    std::uint64_t pulled_updates = 0;  // of the servers' parameters that it holds
    std::uint64_t used = 0;            // gradients
    std::optional<Version> goes_on_from{};
    Row<T> velocity{};  // where it is the worker's own
    bool lost = false;
  };
  struct Sync {
    SyncKind kind = SyncKind::GroupMean;
    std::uint64_t step = 0;
    std::vector<Member> members{};
    Row<T> pulled{};
    std::uint64_t updates = 0;
  };

  [[nodiscard]] const SgdOptions& sgd() const { return task_.spec().sgd; }
  [[nodiscard]] std::uint64_t samples() const { return used_ * task_.spec().batch; }
  [[nodiscard]] double rate() const { return learning_rate(sgd(), samples()); }

  [[nodiscard]] bool has_own_velocities() const {
    return sgd().momentum > 0 && !rules_.velocity && !rules_.server;
  }

  // Of a row; refuses what does not fit into memory.
  [[nodiscard]] std::size_t checked_length(std::uint32_t workers) const {
    const auto parameters = threads_.parameters();
    const auto length = parameters * (rules_.velocity ? 2 : 1);
    const double of_worker = rows_of_worker(rules_) * static_cast<double>(length) +
                             (has_own_velocities() ? 2.0 : 1.0) * static_cast<double>(parameters);
    require_memory(of_worker * workers * sizeof(T));
    return length;
  }

  [[nodiscard]] Row<T> initial() {
    Row<T> row = rows_.take();
    std::ranges::fill(row->writable(), T{0});
    Trainer<T>(task_).initialise(row->writable().first(threads_.parameters()));
    return row;
  }

  [[nodiscard]] Row<T> zero_vector() {
    Row<T> row = vectors_.take();
    std::ranges::fill(row->writable(), T{0});
    return row;
  }

  // A gradient that was read at `changes` is used on what has changed since.
  void count(std::uint32_t worker, std::uint64_t changes_now) {
    Worker& state = workers_[worker];
    staleness_ += changes_now - state.changes;
    ++state.used;
    ++used_;
    last_used_ = {worker, state.step};
  }

  void use_own(std::uint32_t worker) {
    const double now = rate();
    const auto gradient = gradients_.take(worker);
    update(worker, gradient->numbers(), now);
  }

  void update(std::uint32_t worker, std::span<const T> gradient, double rate_now) {
    count(worker, replicas_.now(WorkerId{worker}).changes);
    const auto size = threads_.parameters();
    const auto& from = replicas_.of(WorkerId{worker});
    const auto to = rows_.successor(from);
    auto& velocity = workers_[worker].velocity;
    SgdUpdate<T> update{.gradient = gradient,
                        .from = from->numbers().first(size),
                        .to = to->writable().first(size)};
    const auto to_velocity = velocity ? vectors_.successor(velocity) : nullptr;
    if (velocity) {
      update.velocity = velocity->numbers();
      update.to_velocity = to_velocity->writable();
    } else if (rules_.velocity) {
      update.velocity = from->numbers().subspan(size);
      update.to_velocity = to->writable().subspan(size);
    }
    sgd_update(sgd(), rate_now, update);
    velocity = to_velocity;
    replicas_.set(WorkerId{worker}, to);
  }

  // Members that had the same before, as those of an all-reduce always have, have the same after
  // it.
  void use_mean(std::span<const Member> members) {
    const double now = rate();
    const auto mean = zero_vector();
    for (const auto& member : members)
      add_weighted(member.weight, gradients_.take(index(member.worker))->numbers(),
                   mean->writable());
    const auto first = members.front().worker;
    const auto held = held_by(first);
    update(index(first), mean->numbers(), now);
    for (const auto& member : members.subspan(1)) {
      const auto worker = index(member.worker);
      if (held_by(member.worker) != held) {
        update(worker, mean->numbers(), now);
        continue;
      }
      count(worker, replicas_.now(member.worker).changes);
      replicas_.set(member.worker, replicas_.of(first));
      workers_[worker].velocity = workers_[index(first)].velocity;
    }
  }

  [[nodiscard]] std::pair<const void*, const void*> held_by(WorkerId worker) const {
    return {replicas_.of(worker).get(), workers_[index(worker)].velocity.get()};
  }

  void push(std::uint32_t worker) {
    server_->add(gradients_.take(worker));
    pushed_.push_back(worker);
  }

  void begin_pull(Sync& sync) {
    if (rules_.each_push) push(index(sync.members.front().worker));
    if (!pushed_.empty()) update_server();
    sync.pulled = server_->parameters();
    sync.updates = server_->updates();
  }

  void update_server() {
    const double now = rate();
    for (const auto worker : pushed_) count(worker, server_->updates());
    pushed_.clear();
    server_->update(rules_.each_push ? now / static_cast<double>(workers_.size()) : now);
  }

  [[nodiscard]] typename LearningCurve<T>::Models models() const {
    typename LearningCurve<T>::Models models{.first_lost = workers_.front().lost,
                                             .samples = samples(),
                                             .last_worker = last_used_.worker,
                                             .last_step = last_used_.step};
    for (std::uint32_t worker = 0; worker < workers_.size(); ++worker)
      if (!workers_[worker].lost) models.replicas.push_back(replicas_.of(WorkerId{worker}).get());
    if (server_) models.server = server_->parameters()->numbers();
    return models;
  }

  Rules rules_;
  TrainingTask task_;
  std::vector<double>* model_out_;
  TrainerThreads<T> threads_;
  RowPool<T> rows_;     // of replicas
  RowPool<T> vectors_;  // as long as the parameters: velocities, means of gradients
  Replicas<T> replicas_;
  std::vector<Worker> workers_;
  LocalGradients<T> gradients_;
  std::optional<TrainingServer<T>> server_;
  std::vector<std::uint32_t> pushed_;  // whose gradients the next update of the servers uses
  SyncTable<Sync> syncs_;
  LearningCurve<T> curve_;
  std::optional<Time> reached_;  // when the stop rule's loss was
  std::uint64_t used_ = 0;       // gradients
  struct {
    std::uint32_t worker = 0;
    std::uint64_t step = 0;
  } last_used_;  // gradient
  std::uint64_t staleness_ = 0;
};

}  // namespace

double payload_factor(const Scenario& scenario) {
  return scenario.training && Rules(scenario).velocity ? 2 : 1;
}

std::unique_ptr<VirtualTraining> make_virtual_training(const Scenario& scenario,
                                                       const Topology& topology,
                                                       const SimulateOptions& options) {
  if (!scenario.training) return nullptr;
  if (options.double_precision)
    return std::make_unique<Training<double>>(scenario, topology, options);
  return std::make_unique<Training<float>>(scenario, topology, options);
}

}  // namespace cohort
