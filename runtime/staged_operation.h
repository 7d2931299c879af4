// The stages that all kinds of synchronisation go through: communicator, preparation, transfer,
// arithmetic. Kinds say what happens in each; buffers that a cancelled transfer may still touch are
// kept by the replica.
#pragma once

#include <deque>
#include <memory>

#include "runtime/operation.h"

namespace cohort {

class StagedOperation : public Operation {
 public:
  StagedOperation(const message::Start& start, const OperationContext& context);
  ~StagedOperation() override;
  [[nodiscard]] bool poll() final;
  [[nodiscard]] const message::Done& result() const final { return done_; }

 protected:
  // Null: nothing to wait for.
  [[nodiscard]] virtual std::unique_ptr<Request> connect() { return nullptr; }
  virtual void prepare() {}  // with the replica's lock; queues on its unit
  [[nodiscard]] virtual std::unique_ptr<Request> transfer() = 0;
  virtual void finish() {}  // as prepare()

  [[nodiscard]] const message::Start& start() const { return start_; }
  [[nodiscard]] Replica& replica() const { return context_.replica; }
  [[nodiscard]] VectorUnit& unit() const { return context_.replica.unit(); }
  [[nodiscard]] Transport& transport() const { return context_.transport; }
  [[nodiscard]] const Member& self() const { return self_; }
  [[nodiscard]] std::uint32_t rank(const Member& member) const;
  // What this member puts into a mean unless it computes on: parameters, its snapshot, or its
  // gradient.
  [[nodiscard]] Buffer& own() const;
  // A blocking member's own() becomes the mean; in its place `mean` holds anything.
  void take(Buffer& mean);
  // In prepare(): of as many entries as the replica has; lives as long as this. Its values are
  // anything.
  [[nodiscard]] Buffer& scratch();
  // The parameters += mean - given; `mean` is used up.
  void correct(const Buffer& mean, const Buffer& given);
  // With `--verify`: takes a sample of as many entries as the replica has.
  void note(const float* entries);
  [[nodiscard]] std::unique_ptr<Request> exchange(std::span<const Transfer> transfers);

 private:
  enum class Stage : std::uint8_t { Connect, Prepare, Transfer, Finish, End, Over };

  [[nodiscard]] std::unique_ptr<Request> advance();

  message::Start start_;
  OperationContext context_;
  Member self_;
  Stage stage_ = Stage::Connect;
  Time begun_{};
  std::deque<Buffer> scratch_;  // references stay valid
  std::unique_ptr<Request> waiting_;
  message::Done done_;
};

// One file per kind.
[[nodiscard]] std::unique_ptr<Operation> begin_group_mean(const message::Start& start,
                                                          std::vector<std::uint8_t> rendezvous,
                                                          const OperationContext& context);
[[nodiscard]] std::unique_ptr<Operation> begin_pair_mean(const message::Start& start,
                                                         const OperationContext& context);
[[nodiscard]] std::unique_ptr<Operation> begin_neighbour_mix(const message::Start& start,
                                                             const OperationContext& context);
// Push and pull.
[[nodiscard]] std::unique_ptr<Operation> begin_server_exchange(const message::Start& start,
                                                               const OperationContext& context);

}  // namespace cohort
