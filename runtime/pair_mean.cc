#include <array>

#include "policies/errors.h"
#include "runtime/staged_operation.h"

namespace cohort {
namespace {

class PairMean : public StagedOperation {
 public:
  PairMean(const message::Start& start, const OperationContext& context)
      : StagedOperation(start, context), peer_(find_peer()) {}

 protected:
  void prepare() override {
    given_ = &own();
    if (self().role == Role::Passive) {  // computes on, so its parameters do not hold still
      given_ = &scratch();
      unit().copy(own().entries(), given_->entries(), given_->count());
    }
    mean_ = &scratch();
    note(given_->entries());
  }

  std::unique_ptr<Request> transfer() override {
    const std::array<Transfer, 2> transfers{{
        {Transfer::Way::Send, rank(peer_), given_->entries(), given_->count()},
        {Transfer::Way::Receive, rank(peer_), mean_->entries(), mean_->count()},
    }};
    return exchange(transfers);
  }

  void finish() override {
    unit().scale(peer_.weight, mean_->entries(), mean_->count());
    unit().add(self().weight, given_->entries(), mean_->entries(), mean_->count());
    note(mean_->entries());
    if (self().role == Role::Blocking) {
      take(*mean_);
    } else {
      correct(*mean_, *given_);
    }
  }

 private:
  [[nodiscard]] const Member& find_peer() const {
    const auto& members = start().members;
    if (members.size() != 2) throw ContractError("a pair mean has two members");
    return members[members[0] == self() ? 1 : 0];
  }

  Member peer_;
  Buffer* given_ = nullptr;
  Buffer* mean_ = nullptr;  // the peer's parameters, until the end
};

}  // namespace

std::unique_ptr<Operation> begin_pair_mean(const message::Start& start,
                                           const OperationContext& context) {
  return std::make_unique<PairMean>(start, context);
}

}  // namespace cohort
