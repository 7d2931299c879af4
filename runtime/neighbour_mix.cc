#include "policies/errors.h"
#include "runtime/staged_operation.h"

namespace cohort {
namespace {

// A neighbour is read: it sends what it published and is not changed.
class Source : public StagedOperation {
 public:
  Source(const message::Start& start, const OperationContext& context, const Member& reader)
      : StagedOperation(start, context), reader_(rank(reader)) {}

 protected:
  std::unique_ptr<Request> transfer() override {
    const auto& published = replica().published[start().step % 2];
    const Transfer send{Transfer::Way::Send, reader_, published.entries(), published.count()};
    return exchange({&send, 1});
  }

 private:
  std::uint32_t reader_;
};

class NeighbourReader : public StagedOperation {
 public:
  using StagedOperation::StagedOperation;

 protected:
  void prepare() override {
    for (const auto& member : start().members) {
      if (member.role != Role::Source) continue;
      const auto& buffer = scratch();
      read_.push_back({member.weight, buffer.entries()});
      transfers_.push_back(
          {Transfer::Way::Receive, rank(member), buffer.entries(), buffer.count()});
    }
  }
  std::unique_ptr<Request> transfer() override { return exchange(transfers_); }

  // x += sum of weights * parameters - x, with the snapshot's x in the background.
  void finish() override {
    replica().change();
    auto& mixed = replica().parameters;
    if (self().role == Role::Background) {
      unit().add(self().weight - 1, own().entries(), mixed.entries(), mixed.count());
    } else {
      unit().scale(self().weight, mixed.entries(), mixed.count());
    }
    for (const auto& [weight, entries] : read_) {
      unit().add(weight, entries, mixed.entries(), mixed.count());
    }
  }

 private:
  std::vector<std::pair<double, const float*>> read_;  // weights and what came
  std::vector<Transfer> transfers_;
};

const Member& find_reader(const std::vector<Member>& members) {
  for (const auto& member : members) {
    if (member.role != Role::Source) return member;
  }
  throw ContractError("a neighbour mix without a reader");
}

}  // namespace

std::unique_ptr<Operation> begin_neighbour_mix(const message::Start& start,
                                               const OperationContext& context) {
  const auto& reader = find_reader(start.members);
  if (index(reader.worker) == context.replica.prepare().member) {
    return std::make_unique<NeighbourReader>(start, context);
  }
  return std::make_unique<Source>(start, context, reader);
}

}  // namespace cohort
