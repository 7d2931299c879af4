#include "policies/parameter_server.h"

#include "policies/errors.h"
#include "policies/sync_table.h"

namespace cohort {
namespace {

// Pushes and pulls, shared by both modes.
class Exchanges {
 public:
  explicit Exchanges(const Topology& topology) : topology_(topology) {}

  void start(WorkerId worker, SyncKind kind, Actions& out) {
    const SyncId id{next_++};
    out.start(id, kind);
    out.add_member(worker, Role::Blocking, 1);
    for (std::uint32_t shard = 0; shard < topology_.servers(); ++shard)
      out.add_member(topology_.server(shard), Role::Server, 0);
    live_.insert(id, {worker, kind});
  }
  struct Exchange {
    WorkerId worker{};
    SyncKind kind{};
  };
  // The exchange of that id, which is over.
  Exchange end(SyncId id) {
    const Exchange exchange = *live_.find(id);
    live_.erase(id);
    return exchange;
  }

 private:
  Topology topology_;
  SyncTable<Exchange> live_;
  std::uint64_t next_ = 0;
};

class SyncServer final : public Policy {
 public:
  SyncServer(const Topology& topology, Time update_time)
      : exchanges_(topology),
        update_time_(update_time),
        stage_(topology.workers(), Stage::Computing),
        live_(topology.workers()) {}

  void step(const Event& event, Actions& out) override {
    switch (event.kind) {
      case EventKind::WorkerReady:
        stage_[index(event.worker)] = Stage::Pushing;
        exchanges_.start(event.worker, SyncKind::ServerPush, out);
        return;
      case EventKind::WorkerLeft:
      case EventKind::WorkerLost:
        remove(index(event.worker));
        break;
      case EventKind::SyncDone:
        on_done(exchanges_.end(event.sync), out);
        break;
      case EventKind::SyncFailed:
        exchanges_.end(event.sync);
        return;
      case EventKind::TimerFired:
        updating_ = false;
        pull_all(out);
        return;
      case EventKind::WorkerJoined:
        return;
    }
    update_when_complete(event.at, out);
  }

 private:
  enum class Stage : std::uint8_t { Computing, Pushing, Pushed, Pulling, Gone };

  void remove(std::uint32_t worker) {
    if (stage_[worker] == Stage::Pushed) --pushed_;
    stage_[worker] = Stage::Gone;
    --live_;
  }

  void on_done(const Exchanges::Exchange& exchange, Actions& out) {
    auto& stage = stage_[index(exchange.worker)];
    if (exchange.kind == SyncKind::ServerPush) {
      stage = Stage::Pushed;
      ++pushed_;
    } else {
      stage = Stage::Computing;
      out.release(exchange.worker);
    }
  }

  void update_when_complete(Time now, Actions& out) {
    if (updating_) {
      if (live_ > 0) return;
      out.cancel_timer(TimerId{next_timer_ - 1});
      updating_ = false;
    } else if (pushed_ == live_ && live_ > 0) {
      if (update_time_ == Time{0}) return pull_all(out);
      updating_ = true;
      out.set_timer(TimerId{next_timer_++}, now + update_time_);
    }
  }

  void pull_all(Actions& out) {
    for (std::uint32_t w = 0; w < stage_.size(); ++w) {
      if (stage_[w] != Stage::Pushed) continue;
      stage_[w] = Stage::Pulling;
      exchanges_.start(WorkerId{w}, SyncKind::ServerPull, out);
    }
    pushed_ = 0;
  }

  Exchanges exchanges_;
  Time update_time_;
  std::vector<Stage> stage_;
  std::uint32_t live_;
  std::uint32_t pushed_ = 0;
  bool updating_ = false;
  std::uint64_t next_timer_ = 0;
};

class AsyncServer final : public Policy {
 public:
  AsyncServer(const Topology& topology, Time update_time)
      : exchanges_(topology), update_time_(update_time), timer_of_(topology.workers()) {}

  void step(const Event& event, Actions& out) override {
    switch (event.kind) {
      case EventKind::WorkerReady:
        exchanges_.start(event.worker, SyncKind::ServerPush, out);
        break;
      case EventKind::SyncDone:
        on_done(exchanges_.end(event.sync), event.at, out);
        break;
      case EventKind::SyncFailed:
        exchanges_.end(event.sync);
        break;
      case EventKind::TimerFired:
        on_updated(event.timer, out);
        break;
      case EventKind::WorkerLost:
        cancel_update(event.worker, out);
        break;
      case EventKind::WorkerJoined:
      case EventKind::WorkerLeft:
        break;
    }
  }

 private:
  void on_done(const Exchanges::Exchange& exchange, Time now, Actions& out) {
    if (exchange.kind == SyncKind::ServerPull) {
      out.release(exchange.worker);
    } else if (update_time_ == Time{0}) {
      exchanges_.start(exchange.worker, SyncKind::ServerPull, out);
    } else {
      const TimerId timer{next_timer_++};
      out.set_timer(timer, now + update_time_);
      updates_.insert(timer, exchange.worker);
      timer_of_[index(exchange.worker)] = timer;
    }
  }

  void on_updated(TimerId timer, Actions& out) {
    const auto worker = *updates_.find(timer);
    updates_.erase(timer);
    timer_of_[index(worker)].reset();
    exchanges_.start(worker, SyncKind::ServerPull, out);
  }

  void cancel_update(WorkerId worker, Actions& out) {
    auto& timer = timer_of_[index(worker)];
    if (!timer) return;
    out.cancel_timer(*timer);
    updates_.erase(*timer);
    timer.reset();
  }

  Exchanges exchanges_;
  Time update_time_;
  SyncTable<WorkerId, TimerId> updates_;
  std::vector<std::optional<TimerId>> timer_of_;
  std::uint64_t next_timer_ = 0;
};

std::unique_ptr<Policy> make_parameter_server(const Options& options, const Topology& topology,
                                              std::uint64_t) {
  if (topology.servers() != static_cast<std::uint64_t>(options.get<std::int64_t>("servers")))
    throw ContractError("parameter-server: the topology has other servers than the options ask");
  const auto update_time = options.get<Time>("update_time");
  if (options.get<std::string>("mode") == "async")
    return std::make_unique<AsyncServer>(topology, update_time);
  return std::make_unique<SyncServer>(topology, update_time);
}

void check_parameter_server(const Options&, const Topology&) {}  // any servers fit any workers

std::vector<OptionSpec> options() {
  return {
      {.name = "mode",
       .type = OptionType::Choice,
       .default_value = std::string("sync"),
       .choices = {"sync", "async"},
       .description = "one update per step of everybody, or one per push",
       .source = "[Li 2014]"},
      {.name = "servers",
       .type = OptionType::Count,
       .default_value = std::int64_t{1},
       .maximum = 65536,
       .description = "parameter servers, each with an equal shard; server j is on node j mod N",
       .source = "[Li 2014]"},
      {.name = "update_time",
       .type = OptionType::Duration,
       .default_value = Time{0},
       .description = "what the servers need for one update of the parameters",
       .source = "SEMANTICS 2"},
      {.name = "duplex",
       .type = OptionType::Flag,
       .default_value = true,
       .description = "links carry pushes and pulls at once, each at full bandwidth",
       .source = "SEMANTICS 2",
       .read_by = ReadBy::Driver},
      overlap_option(),
      endpoint_bandwidth_option()};
}

}  // namespace

PolicyEntry parameter_server_entry() {
  return {
      .name = "parameter-server",
      .where = Where::Local,
      .rule = "Every worker pushes its gradient to the servers and pulls the updated parameters.",
      .source = "[Li 2014]",
      .options = options(),
      .make = make_parameter_server,
      .check = check_parameter_server};
}

}  // namespace cohort
