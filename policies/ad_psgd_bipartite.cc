#include "policies/ad_psgd.h"
#include "policies/live_set.h"
#include "policies/random.h"
#include "policies/request_queues.h"
#include "policies/sync_table.h"

namespace cohort {
namespace {

class Bipartite final : public Policy {
 public:
  Bipartite(Graph graph, Passive passive, std::uint64_t seed)
      : graph_(std::move(graph)),
        passive_(passive),
        seed_(seed),
        workers_(graph_.workers()),
        queues_(graph_.workers()),
        servants_(graph_.workers()) {
    for (std::uint32_t w = 0; w < graph_.workers(); ++w)
      if (!is_active(w)) servants_.insert(w);
  }

  void step(const Event& event, Actions& out) override {
    const auto id = index(event.worker);
    switch (event.kind) {
      case EventKind::WorkerReady:
        is_active(id) ? request(id, out) : reach_sync_point(id, out);
        break;
      case EventKind::WorkerLeft:
        workers_[id].left = true;
        if (!is_active(id)) serve(id, out);
        break;
      case EventKind::WorkerLost:
        on_lost(id, out);
        break;
      case EventKind::SyncDone: {
        const auto pair = take_pair(event.sync);
        out.release(WorkerId{pair.active});
        serve(pair.passive, out);
        break;
      }
      case EventKind::SyncFailed: {
        const auto pair = take_pair(event.sync);
        if (!workers_[pair.active].lost) request(pair.active, out);
        if (!workers_[pair.passive].lost) serve(pair.passive, out);
        break;
      }
      case EventKind::WorkerJoined:
      case EventKind::TimerFired:
        break;
    }
  }

 private:
  struct Worker {
    std::uint64_t requests = 0;      // active: made so far
    std::uint64_t serves_until = 0;  // passive at its sync point: requests older than this
    bool at_sync_point = false;      // passive
    bool serving = false;            // passive
    bool left = false;
    bool lost = false;
  };
  struct Pair {
    std::uint32_t active = 0;
    std::uint32_t passive = 0;
  };

  void request(std::uint32_t active, Actions& out) {
    const auto passive = choose(active);
    if (!passive) {
      out.release(WorkerId{active});
      return;
    }
    queues_.push(active, *passive);
    serve(*passive, out);
  }

  // A random passive neighbour that is not lost.
  [[nodiscard]] std::optional<std::uint32_t> choose(std::uint32_t active) {
    Stream stream(seed_, Purpose::Policy, active, workers_[active].requests++);
    if (graph_.complete()) return servants_.draw(stream, active);
    std::uint32_t count = 0;
    for (const auto neighbour : graph_.neighbours(active)) count += servants_.contains(neighbour);
    if (count == 0) return std::nullopt;
    auto skip = stream.below(count);
    for (const auto neighbour : graph_.neighbours(active))
      if (servants_.contains(neighbour) && skip-- == 0) return neighbour;
    return std::nullopt;
  }

  void reach_sync_point(std::uint32_t passive, Actions& out) {
    if (passive_ == Passive::KeepsComputing) {
      out.release(WorkerId{passive});
      return;
    }
    workers_[passive].at_sync_point = true;
    workers_[passive].serves_until = queues_.next_age();
    serve(passive, out);
  }

  [[nodiscard]] bool may_serve(const Worker& passive, std::uint32_t asker) const {
    if (passive_ == Passive::KeepsComputing || passive.left) return true;
    return passive.at_sync_point && queues_.age(asker) < passive.serves_until;
  }

  // Starts the pair at the head of the queue if it can; ends the sync point if there is none.
  void serve(std::uint32_t id, Actions& out) {
    auto& passive = workers_[id];
    if (passive.serving) return;
    const auto asker = queues_.first(id);
    if (asker && may_serve(passive, *asker)) {
      queues_.remove(*asker);
      passive.serving = true;
      start_pair({*asker, id}, out);
    } else if (passive.at_sync_point) {
      passive.at_sync_point = false;
      out.release(WorkerId{id});
    }
  }

  void start_pair(Pair pair, Actions& out) {
    const SyncId sync{next_sync_++};
    pairs_.insert(sync, pair);
    out.start(sync, SyncKind::PairMean);
    out.add_member(WorkerId{pair.active}, Role::Blocking, 0.5);
    out.add_member(WorkerId{pair.passive}, Role::Passive, 0.5);
  }

  Pair take_pair(SyncId sync) {
    const auto pair = *pairs_.find(sync);
    pairs_.erase(sync);
    workers_[pair.passive].serving = false;
    return pair;
  }

  void on_lost(std::uint32_t id, Actions& out) {
    workers_[id].lost = true;
    workers_[id].at_sync_point = false;
    if (queues_.outstanding(id)) queues_.remove(id);
    servants_.erase(id);
    while (const auto asker = queues_.first(id)) {
      queues_.remove(*asker);
      request(*asker, out);
    }
  }

  Graph graph_;
  Passive passive_;
  std::uint64_t seed_;
  std::vector<Worker> workers_;
  RequestQueues queues_;
  LiveSet servants_;  // passive workers that are not lost
  SyncTable<Pair> pairs_;
  std::uint64_t next_sync_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_bipartite(Graph graph, Passive passive, std::uint64_t seed) {
  return std::make_unique<Bipartite>(std::move(graph), passive, seed);
}

}  // namespace cohort
