#include "policies/errors.h"
#include "runtime/staged_operation.h"

namespace cohort {
namespace {

// The worker's side: its gradient to the servers, or their parameters to it, each shard at once.
class WorkerSide : public StagedOperation {
 public:
  using StagedOperation::StagedOperation;

 protected:
  std::unique_ptr<Request> transfer() override {
    const bool push = start().kind == SyncKind::ServerPush;
    const auto& buffer = push ? replica().gradient : replica().parameters;
    const auto way = push ? Transfer::Way::Send : Transfer::Way::Receive;
    const auto& prepare = replica().prepare();
    const auto servers = static_cast<std::uint32_t>(prepare.ranks.size()) - prepare.workers;
    std::vector<Transfer> transfers;
    for (const auto& member : start().members) {
      if (member.role != Role::Server) continue;
      const auto shard = index(member.worker) - prepare.workers;
      const auto [first, count] = Replica::shard(prepare.entries, servers, shard);
      if (count > 0) transfers.push_back({way, rank(member), buffer.entries() + first, count});
    }
    return exchange(transfers);
  }
};

class ServerSide : public StagedOperation {
 public:
  ServerSide(const message::Start& start, const OperationContext& context)
      : StagedOperation(start, context), worker_(find_worker()), peer_(rank(worker_)) {}

 protected:
  std::unique_ptr<Request> move_shard(Transfer::Way way) {
    if (shard_->count() == 0) return nullptr;
    const Transfer transfer{way, peer_, shard_->entries(), shard_->count()};
    return exchange({&transfer, 1});
  }
  void set_shard(Buffer& buffer) { shard_ = &buffer; }
  [[nodiscard]] Buffer& shard() const { return *shard_; }
  [[nodiscard]] WorkerId worker() const { return worker_.worker; }

 private:
  [[nodiscard]] const Member& find_worker() const {
    for (const auto& member : start().members) {
      if (member.role != Role::Server) return member;
    }
    throw ContractError("a server exchange without a worker");
  }

  Member worker_;
  std::uint32_t peer_;
  Buffer* shard_ = nullptr;
};

class TakePush : public ServerSide {
 public:
  using ServerSide::ServerSide;

 protected:
  void prepare() override { set_shard(scratch()); }
  std::unique_ptr<Request> transfer() override { return move_shard(Transfer::Way::Receive); }
  void finish() override { replica().optimiser->push(worker(), shard(), replica().parameters); }
};

// Sends a copy: the next update must not change what is under way.
class ServePull : public ServerSide {
 public:
  using ServerSide::ServerSide;

 protected:
  void prepare() override {
    replica().optimiser->pull(worker(), replica().parameters);
    auto& copy = scratch();
    unit().copy(replica().parameters.entries(), copy.entries(), copy.count());
    set_shard(copy);
  }
  std::unique_ptr<Request> transfer() override { return move_shard(Transfer::Way::Send); }
};

}  // namespace

std::unique_ptr<Operation> begin_server_exchange(const message::Start& start,
                                                 const OperationContext& context) {
  if (!context.replica.is_server()) return std::make_unique<WorkerSide>(start, context);
  if (start.kind == SyncKind::ServerPush) return std::make_unique<TakePush>(start, context);
  return std::make_unique<ServePull>(start, context);
}

}  // namespace cohort
