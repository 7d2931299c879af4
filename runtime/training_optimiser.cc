#include "runtime/training_optimiser.h"

#include <utility>
#include <vector>

#include "training/sgd.h"

namespace cohort {
namespace {

class TrainingOptimiser : public ShardOptimiser {
 public:
  TrainingOptimiser(MemberTraining& training, const message::Prepare& prepare, VectorUnit& unit,
                    std::function<Time()> now)
      : training_(training),
        unit_(unit),
        now_(std::move(now)),
        every_push_(prepare.update == ServerUpdate::EveryPush),
        sgd_(training.task().spec().sgd),
        velocity_(unit, sgd_.momentum > 0 ? training.held() : 0),
        sum_(unit, training.held()),
        pulled_(prepare.workers) {}

  void push(WorkerId worker, Buffer& gradient, Buffer& shard) override {
    if (used_ + waiting_.size() == 0) training_.copies().look(now_(), 0, shard);
    waiting_.push_back(worker);
    if (every_push_) {
      update(gradient, shard, 1.0 / static_cast<double>(pulled_.size()));
    } else {
      unit_.add(1, gradient.entries(), sum_.entries(), sum_.count());
    }
  }

  void pull(WorkerId worker, Buffer& shard) override {
    if (!waiting_.empty()) {
      unit_.scale(1.0 / static_cast<double>(waiting_.size()), sum_.entries(), sum_.count());
      update(sum_, shard, 1);
      unit_.scale(0, sum_.entries(), sum_.count());
    }
    pulled_[index(worker)] = updates_;
  }

 private:
  void update(const Buffer& gradient, Buffer& shard, double scale) {
    unit_.descend(sgd_, scale * learning_rate(sgd_, training_.samples(used_)),
                  {gradient.entries(), shard.entries(), velocity_.entries(), training_.held()});
    for (const auto worker : waiting_) training_.count_gradient(updates_ - pulled_[index(worker)]);
    used_ += waiting_.size();
    waiting_.clear();
    ++updates_;
    training_.copies().look(now_(), used_, shard);
  }

  MemberTraining& training_;
  VectorUnit& unit_;
  std::function<Time()> now_;
  bool every_push_;
  SgdOptions sgd_;
  Buffer velocity_;
  Buffer sum_;                     // of what waits for an update
  std::vector<WorkerId> waiting_;  // whose gradients these are
  std::uint64_t used_ = 0;         // gradients, in updates
  std::uint64_t updates_ = 0;
  std::vector<std::uint64_t> pulled_;  // updates that were in what each worker pulled last
};

}  // namespace

std::unique_ptr<ShardOptimiser> make_training_optimiser(MemberTraining& training,
                                                        const message::Prepare& prepare,
                                                        VectorUnit& unit,
                                                        std::function<Time()> now) {
  return std::make_unique<TrainingOptimiser>(training, prepare, unit, std::move(now));
}

}  // namespace cohort
