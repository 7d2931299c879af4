#include "runtime/training_step.h"

#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "runtime/step_clock.h"
#include "training/sgd.h"

namespace cohort {
namespace {

// Where vectors are the host's.
class HostModel : public ModelUnit {
 public:
  explicit HostModel(Trainer<float>& trainer) : trainer_(trainer) {}

  void follow() override {}
  double gradient(const float* parameters, const BatchChoice& batch, float* gradient) override {
    return trainer_.gradient({parameters, trainer_.parameters()}, batch.worker, batch.step,
                             batch.samples, {gradient, trainer_.parameters()});
  }

 private:
  Trainer<float>& trainer_;
};

class TrainingStep : public LocalStep {
 public:
  TrainingStep(MemberTraining& training, Replica& replica, std::unique_ptr<ModelUnit> model,
               std::function<Time()> now)
      : training_(training),
        replica_(replica),
        model_(std::move(model)),
        now_(std::move(now)),
        worker_{replica.prepare().member},
        terms_(*replica.prepare().training),
        sgd_(training.task().spec().sgd),
        pushes_(replica.prepare().update != ServerUpdate::None) {
    const auto& task = training.task();
    if (!model_) model_ = std::make_unique<HostModel>(training.trainer());
    if (task.shards()) order_.emplace(*task.shards(), worker_);
    if (!offers()) gradient_ = Buffer(replica.unit(), training.parameters());
    if (sgd_.momentum > 0 && !terms_.average_momentum)
      velocity_ = Buffer(replica.unit(), training.parameters());
  }

  void resume(Replica&, std::uint64_t steps) override {
    if (std::exchange(pending_, false)) update();
    training_.copies().look(now_(), steps, replica_.parameters);
  }

  bool compute(Replica&, std::uint64_t step, Time work) override {
    const auto end = monotonic_now() + work;
    step_ = step;
    const auto samples = order_ ? order_->batch(step) : std::span<const std::uint32_t>{};
    const double loss =
        model_->gradient(hold(), {training_.task().seed(), worker_, step, samples}, gradient());
    if (!std::isfinite(loss)) return false;
    sleep_until(end, replica_);
    return true;
  }

  void apply(Replica&, std::uint64_t) override {
    replica_.let_go();
    if (pushes_) return;
    pending_ = offers() || terms_.order == StepOrder::AverageThenUpdate;
    if (!pending_) update();
  }

 private:
  // Whether the gradient leaves this worker; what comes back from a mean takes its place.
  [[nodiscard]] bool offers() const { return pushes_ || terms_.averaged == Averaged::Gradients; }
  [[nodiscard]] float* gradient() const {
    return offers() ? replica_.gradient.entries() : gradient_.entries();
  }
  [[nodiscard]] float* velocity() const {
    if (sgd_.momentum == 0) return nullptr;
    const auto& all = replica_.parameters;
    return terms_.average_momentum ? all.entries() + all.count() / 2 : velocity_.entries();
  }

  [[nodiscard]] const float* hold() {
    const std::scoped_lock lock(replica_.mutex);
    changes_ = replica_.changes();
    model_->follow();
    return replica_.hold();
  }

  void update() {
    const auto samples = training_.samples(replica_.prepare().workers * step_);
    replica_.unit().descend(
        sgd_, learning_rate(sgd_, samples),
        {gradient(), replica_.parameters.entries(), velocity(), training_.parameters()});
    training_.count_gradient(replica_.changes() - changes_);
  }

  MemberTraining& training_;
  Replica& replica_;
  std::unique_ptr<ModelUnit> model_;
  std::function<Time()> now_;
  WorkerId worker_;
  TrainingTerms terms_;
  SgdOptions sgd_;
  bool pushes_;
  std::optional<DataOrder> order_;  // none without data
  Buffer gradient_;                 // where it stays here
  Buffer velocity_;                 // likewise
  std::uint64_t step_ = 0;          // of the latest gradient
  std::uint64_t changes_ = 0;       // of the replica, when that was taken
  bool pending_ = false;            // it is still to be applied
};

}  // namespace

std::unique_ptr<LocalStep> make_training_step(MemberTraining& training, Replica& replica,
                                              std::unique_ptr<ModelUnit> model,
                                              std::function<Time()> now) {
  return std::make_unique<TrainingStep>(training, replica, std::move(model), std::move(now));
}

}  // namespace cohort
