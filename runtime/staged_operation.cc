#include "runtime/staged_operation.h"

#include <algorithm>
#include <mutex>

#include "policies/errors.h"

namespace cohort {
namespace {

const Member& find_self(const message::Start& start, const message::Prepare& prepare) {
  const auto is_self = [&](const Member& member) { return index(member.worker) == prepare.member; };
  const auto found = std::find_if(start.members.begin(), start.members.end(), is_self);
  if (found == start.members.end()) {
    throw ContractError("a synchronisation was started at a member that is not in it");
  }
  return *found;
}

}  // namespace

StagedOperation::StagedOperation(const message::Start& start, const OperationContext& context)
    : start_(start), context_(context), self_(find_self(start, context.replica.prepare())) {
  done_.sync = start.sync;
}

StagedOperation::~StagedOperation() {
  const bool touched = waiting_ != nullptr;
  waiting_.reset();
  for (auto& buffer : scratch_) {
    if (touched) {
      replica().retire(std::move(buffer));
    } else {
      replica().give_back(std::move(buffer));
    }
  }
}

bool StagedOperation::poll() {
  while (stage_ != Stage::Over) {
    if (waiting_ != nullptr && !waiting_->test()) return false;
    waiting_ = advance();
  }
  return true;
}

std::unique_ptr<Request> StagedOperation::advance() {
  const auto stage = stage_;
  stage_ = static_cast<Stage>(static_cast<std::uint8_t>(stage) + 1);
  switch (stage) {
    case Stage::Connect:
      begun_ = context_.now();
      return connect();
    case Stage::Prepare: {
      if (start_.create) done_.communicator = context_.now() - begun_;
      const std::scoped_lock lock(replica().mutex);
      prepare();
      return unit().fence();
    }
    case Stage::Transfer:
      done_.began = context_.now();
      return transfer();
    case Stage::Finish: {
      const std::scoped_lock lock(replica().mutex);
      finish();
      return unit().fence();
    }
    case Stage::End:
    case Stage::Over:
      done_.ended = context_.now();
  }
  return nullptr;
}

std::uint32_t StagedOperation::rank(const Member& member) const {
  return replica().prepare().ranks.at(index(member.worker));
}

Buffer& StagedOperation::own() const {
  if (start_.kind == SyncKind::GroupMean && averages_gradients(replica().prepare()))
    return replica().gradient;
  return self_.role == Role::Background ? replica().snapshot : replica().parameters;
}

Buffer& StagedOperation::scratch() {
  return scratch_.emplace_back(replica().borrow(replica().parameters.count()));
}

void StagedOperation::take(Buffer& mean) {
  auto& target = own();
  if (&target == &replica().parameters) replica().change();
  if (&target != &mean) std::swap(mean, target);
}

void StagedOperation::correct(const Buffer& mean, const Buffer& given) {
  replica().change();
  unit().add(-1, given.entries(), mean.entries(), mean.count());
  unit().add(1, mean.entries(), replica().parameters.entries(), mean.count());
}

void StagedOperation::note(const float* entries) {
  if (!replica().prepare().verify) return;
  done_.samples.push_back(sample(entries, replica().parameters.count(), start_.sync, unit()));
}

std::unique_ptr<Request> StagedOperation::exchange(std::span<const Transfer> transfers) {
  if (transfers.empty()) return nullptr;
  return transport().exchange(start_.sync, transfers);
}

}  // namespace cohort
