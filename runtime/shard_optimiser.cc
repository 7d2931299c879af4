#include "runtime/shard_optimiser.h"

namespace cohort {
namespace {

class Adding : public ShardOptimiser {
 public:
  Adding(const message::Prepare& prepare, VectorUnit& unit, std::size_t entries)
      : update_(prepare.update), workers_(prepare.workers), unit_(unit), sum_(unit, entries) {}

  void push(WorkerId, Buffer& gradient, Buffer&) override {
    unit_.add(1, gradient.entries(), sum_.entries(), sum_.count());
    ++pushes_;
  }

  void pull(WorkerId, Buffer& shard) override {
    if (pushes_ == 0) return;
    const auto shares = update_ == ServerUpdate::EveryPush ? workers_ : pushes_;
    unit_.add(1.0 / static_cast<double>(shares), sum_.entries(), shard.entries(), sum_.count());
    unit_.scale(0, sum_.entries(), sum_.count());
    pushes_ = 0;
  }

 private:
  ServerUpdate update_;
  std::uint64_t workers_;
  VectorUnit& unit_;
  Buffer sum_;  // of what was pushed
  std::uint64_t pushes_ = 0;
};

}  // namespace

std::unique_ptr<ShardOptimiser> make_adding_optimiser(const message::Prepare& prepare,
                                                      VectorUnit& unit, std::size_t entries) {
  return std::make_unique<Adding>(prepare, unit, entries);
}

}  // namespace cohort
