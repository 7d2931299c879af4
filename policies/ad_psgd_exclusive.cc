#include "policies/ad_psgd.h"
#include "policies/live_set.h"
#include "policies/random.h"
#include "policies/request_queues.h"
#include "policies/sync_table.h"

namespace cohort {
namespace {

class Exclusive final : public Policy {
 public:
  Exclusive(std::uint32_t workers, std::uint64_t seed)
      : seed_(seed), workers_(workers), queues_(workers), live_(workers) {
    for (std::uint32_t w = 0; w < workers; ++w) live_.insert(w);
  }

  void step(const Event& event, Actions& out) override {
    const auto id = index(event.worker);
    switch (event.kind) {
      case EventKind::WorkerReady:
        request(id, out);
        break;
      case EventKind::WorkerLeft:
      case EventKind::WorkerLost:
        on_gone(id, out);
        break;
      case EventKind::SyncDone: {
        const auto pair = take_exchange(event.sync);
        out.release(WorkerId{pair.asker});
        start_waiting(pair, out);
        break;
      }
      case EventKind::SyncFailed: {
        const auto pair = take_exchange(event.sync);
        start_waiting(pair, out);
        if (live_.contains(pair.asker)) request(pair.asker, out);
        break;
      }
      case EventKind::WorkerJoined:
      case EventKind::TimerFired:
        break;
    }
  }

 private:
  struct Worker {
    std::uint64_t requests = 0;  // made so far
    bool busy = false;           // in an exchange, at either end
  };
  struct Exchange {
    std::uint32_t asker = 0;
    std::uint32_t served = 0;
  };

  void request(std::uint32_t asker, Actions& out) {
    Stream stream(seed_, Purpose::Policy, asker, workers_[asker].requests++);
    const auto served = live_.draw(stream, asker);
    if (!served) {
      out.release(WorkerId{asker});
      return;
    }
    queues_.push(asker, *served);
    if (can_start(asker)) start(asker, out);
  }

  // Whether `asker` has a request and both its ends are free.
  [[nodiscard]] bool can_start(std::uint32_t asker) const {
    return queues_.outstanding(asker) && !workers_[asker].busy &&
           !workers_[queues_.target(asker)].busy;
  }

  void start(std::uint32_t asker, Actions& out) {
    const Exchange exchange{asker, queues_.target(asker)};
    queues_.remove(asker);
    workers_[exchange.asker].busy = true;
    workers_[exchange.served].busy = true;
    const SyncId sync{next_sync_++};
    exchanges_.insert(sync, exchange);
    out.start(sync, SyncKind::PairMean);
    out.add_member(WorkerId{exchange.asker}, Role::Blocking, 0.5);
    out.add_member(WorkerId{exchange.served}, Role::Passive, 0.5);
  }

  Exchange take_exchange(SyncId sync) {
    const auto exchange = *exchanges_.find(sync);
    exchanges_.erase(sync);
    workers_[exchange.asker].busy = false;
    workers_[exchange.served].busy = false;
    return exchange;
  }

  // Starts what waited for the ends of an exchange that is over, oldest request first.
  void start_waiting(const Exchange& over, Actions& out) {
    for (;;) {
      const auto one = oldest_at(over.asker);
      const auto other = oldest_at(over.served);
      if (!one && !other) return;
      const bool take_one = one && (!other || queues_.age(*one) <= queues_.age(*other));
      start(take_one ? *one : *other, out);
    }
  }

  // The asker of the oldest request that has `end` at either side and can start.
  [[nodiscard]] std::optional<std::uint32_t> oldest_at(std::uint32_t end) const {
    if (workers_[end].busy) return std::nullopt;
    auto asker = queues_.first(end);
    while (asker && !can_start(*asker)) asker = queues_.behind(*asker);
    if (can_start(end) && (!asker || queues_.age(end) < queues_.age(*asker))) return end;
    return asker;
  }

  void on_gone(std::uint32_t id, Actions& out) {
    live_.erase(id);
    if (queues_.outstanding(id)) queues_.remove(id);
    while (const auto asker = queues_.first(id)) {
      queues_.remove(*asker);
      request(*asker, out);
    }
  }

  std::uint64_t seed_;
  std::vector<Worker> workers_;
  RequestQueues queues_;
  LiveSet live_;  // neither left nor lost
  SyncTable<Exchange> exchanges_;
  std::uint64_t next_sync_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_exclusive(std::uint32_t workers, std::uint64_t seed) {
  return std::make_unique<Exclusive>(workers, seed);
}

}  // namespace cohort
