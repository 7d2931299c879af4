#include "runtime/training_step.h"

#include <cmath>
#include <mutex>
#include <utility>

#include "runtime/step_clock.h"

namespace cohort {
namespace {

class TrainingStep : public LocalStep {
 public:
  TrainingStep(MemberTraining& training, const message::Prepare& prepare, std::function<Time()> now)
      : training_(training),
        workers_(prepare.workers),
        terms_(*prepare.training),
        pushes_(prepare.update != ServerUpdate::None),
        now_(std::move(now)),
        worker_(training.task(), WorkerId{prepare.member}, training.parameters()) {}

  void resume(Replica& replica, std::uint64_t steps) override {
    if (std::exchange(pending_, false)) {
      if (offers()) replica.unit().read(replica.gradient.entries(), worker_.gradient());
      update(replica);
    }
    training_.copies().look(now_(), steps, replica.parameters);
  }

  bool compute(Replica& replica, std::uint64_t step, Time work) override {
    const auto end = monotonic_now() + work;
    step_ = step;
    const double loss = worker_.compute(training_.trainer(), read(replica), step);
    if (!std::isfinite(loss)) return false;
    sleep_until(end, replica);
    return true;
  }

  void apply(Replica& replica, std::uint64_t) override {
    replica.let_go();
    if (offers()) replica.unit().write(worker_.gradient(), replica.gradient.entries());
    if (pushes_) return;
    pending_ = offers() || terms_.order == StepOrder::AverageThenUpdate;
    if (!pending_) update(replica);
  }

 private:
  // Whether the gradient leaves this worker.
  [[nodiscard]] bool offers() const { return pushes_ || terms_.averaged == Averaged::Gradients; }

  [[nodiscard]] std::span<const float> read(Replica& replica) {
    const std::scoped_lock lock(replica.mutex);
    changes_ = replica.changes();
    return {replica.hold(), training_.parameters()};
  }

  void update(Replica& replica) {
    const auto& all = replica.parameters;
    float* velocity = all.entries() + all.count() / 2;
    if (terms_.average_momentum) replica.unit().read(velocity, worker_.velocity());
    worker_.apply({all.entries(), training_.parameters()}, training_.samples(workers_ * step_));
    if (terms_.average_momentum) replica.unit().write(worker_.velocity(), velocity);
    training_.count_gradient(replica.changes() - changes_);
  }

  MemberTraining& training_;
  std::uint64_t workers_;
  TrainingTerms terms_;
  bool pushes_;
  std::function<Time()> now_;
  WorkerTraining<float> worker_;
  std::uint64_t step_ = 0;     // of the latest gradient
  std::uint64_t changes_ = 0;  // of the replica, when that was taken
  bool pending_ = false;       // it is still to be applied
};

}  // namespace

std::unique_ptr<LocalStep> make_training_step(MemberTraining& training,
                                              const message::Prepare& prepare,
                                              std::function<Time()> now) {
  return std::make_unique<TrainingStep>(training, prepare, std::move(now));
}

}  // namespace cohort
