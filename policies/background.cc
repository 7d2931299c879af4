#include "policies/background.h"

namespace cohort {
namespace {

class Background final : public Policy {
 public:
  Background(std::unique_ptr<Policy> inner, const Topology& topology, std::vector<bool> applies)
      : inner_(std::move(inner)), workers_(topology.workers()) {
    for (std::size_t w = 0; w < applies.size(); ++w) workers_[w].applies = applies[w];
  }

  void step(const Event& event, Actions& out) override {
    switch (event.kind) {
      case EventKind::WorkerReady:
        on_ready(event, out);
        break;
      case EventKind::WorkerLeft:
        forward(on_left(event), out);
        break;
      case EventKind::WorkerLost:
        workers_[index(event.worker)] = {.applies = workers_[index(event.worker)].applies};
        forward(event, out);
        break;
      default:
        forward(event, out);
    }
    feed_waiting(event.at, out);
  }

 private:
  struct Worker {
    bool applies = true;
    bool member = false;   // released with a snapshot; the inner policy holds it
    bool waiting = false;  // ready again before the membership was over
    std::uint64_t step = 0;
    Time compute{};
  };

  void on_ready(const Event& event, Actions& out) {
    auto& worker = workers_[index(event.worker)];
    if (!worker.member) {
      request(event, out);
      return;
    }
    worker.waiting = true;
    worker.step = event.step;
    worker.compute = event.compute;
  }

  // The inner policy sees the leaver as waiting, so for it the leaver is lost.
  Event on_left(const Event& event) {
    auto& worker = workers_[index(event.worker)];
    if (!worker.member) return event;
    worker.member = false;
    return Event::lost(event.at, event.worker);
  }

  // A ready for the inner policy: unless it is released at once, it goes on with a snapshot.
  void request(const Event& ready, Actions& out) {
    answer_.clear();
    inner_->step(ready, answer_);
    auto& worker = workers_[index(ready.worker)];
    if (worker.applies && !releases(ready.worker)) {
      worker.member = true;
      out.release_with_snapshot(ready.worker);
    }
    carry_over(out);
  }

  void forward(const Event& event, Actions& out) {
    answer_.clear();
    inner_->step(event, answer_);
    carry_over(out);
  }

  [[nodiscard]] bool releases(WorkerId worker) const {
    for (const auto& action : answer_.all())
      if (action.kind == ActionKind::Release && action.worker == worker) return true;
    return false;
  }

  void carry_over(Actions& out) {
    for (const auto& action : answer_.all()) {
      switch (action.kind) {
        case ActionKind::Start:
          start(action, out);
          break;
        case ActionKind::Release:
          release(action.worker, out);
          break;
        case ActionKind::SetTimer:
          out.set_timer(action.timer, action.at);
          break;
        case ActionKind::CancelTimer:
          out.cancel_timer(action.timer);
          break;
      }
    }
  }

  void start(const Action& action, Actions& out) {
    out.start(action.sync, action.sync_kind, action.step);
    for (const auto& member : answer_.members(action)) {
      const bool snapshotted =
          member.role == Role::Blocking && workers_[index(member.worker)].applies;
      out.add_member(member.worker, snapshotted ? Role::Background : member.role, member.weight);
    }
  }

  void release(WorkerId id, Actions& out) {
    auto& worker = workers_[index(id)];
    if (!worker.member) {
      out.release(id);
      return;
    }
    worker.member = false;
    if (worker.waiting) freed_.push_back(id);
  }

  // Workers whose membership has just ended and that became ready meanwhile count as newly ready.
  void feed_waiting(Time at, Actions& out) {
    for (std::size_t i = 0; i < freed_.size(); ++i) {
      auto& worker = workers_[index(freed_[i])];
      worker.waiting = false;
      request(Event::ready(at, freed_[i], worker.step, worker.compute), out);
    }
    freed_.clear();
  }

  std::unique_ptr<Policy> inner_;
  std::vector<Worker> workers_;
  std::vector<WorkerId> freed_;
  Actions answer_;
};

}  // namespace

std::unique_ptr<Policy> in_the_background(std::unique_ptr<Policy> inner, const Topology& topology,
                                          std::vector<bool> applies) {
  return std::make_unique<Background>(std::move(inner), topology, std::move(applies));
}

}  // namespace cohort
