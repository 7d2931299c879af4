#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/staged_operation.h"

namespace cohort {
namespace {

// The weight that all members but forwarders have; none when they differ.
std::optional<double> common_weight(const std::vector<Member>& members) {
  std::optional<double> common;
  for (const auto& member : members) {
    if (member.role == Role::Forwarder) continue;
    if (common && *common != member.weight) return std::nullopt;
    common = member.weight;
  }
  return common;
}

class GroupMean : public StagedOperation {
 public:
  GroupMean(const message::Start& start, std::vector<std::uint8_t> rendezvous,
            const OperationContext& context)
      : StagedOperation(start, context),
        rendezvous_(std::move(rendezvous)),
        common_(common_weight(start.members)) {}

 protected:
  std::unique_ptr<Request> connect() override {
    if (!start().create) return nullptr;
    auto members = start().members;  // by worker: those of a node are neighbours on the ring
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return index(a.worker) < index(b.worker); });
    std::vector<std::uint32_t> ranks;
    for (const auto& member : members) ranks.push_back(rank(member));
    return transport().create(start().communicator, ranks, rendezvous_);
  }

  void prepare() override {
    if (self().role == Role::Forwarder) zeros_ = Buffer(unit(), own().count());
    Buffer& input = self().role == Role::Forwarder ? zeros_ : own();
    note(input.entries());
    const bool in_place = common_ && self().role == Role::Blocking;
    sum_ = in_place && !transport().outlives_failure() ? &input : &scratch();
    from_ = common_ ? input.entries() : sum_->entries();
    if (common_) return;
    unit().copy(input.entries(), sum_->entries(), sum_->count());
    unit().scale(self().weight, sum_->entries(), sum_->count());
  }

  std::unique_ptr<Request> transfer() override {
    return transport().all_reduce(start().communicator, from_, sum_->entries(), sum_->count());
  }

  void finish() override {
    if (common_) unit().scale(*common_, sum_->entries(), sum_->count());
    note(sum_->entries());
    if (self().role == Role::Background) correct(*sum_, own());
    if (self().role == Role::Blocking) take(*sum_);
  }

 private:
  std::vector<std::uint8_t> rendezvous_;
  std::optional<double> common_;
  Buffer zeros_;  // what a forwarder gives
  const float* from_ = nullptr;
  Buffer* sum_ = nullptr;
};

}  // namespace

std::unique_ptr<Operation> begin_group_mean(const message::Start& start,
                                            std::vector<std::uint8_t> rendezvous,
                                            const OperationContext& context) {
  return std::make_unique<GroupMean>(start, std::move(rendezvous), context);
}

}  // namespace cohort
