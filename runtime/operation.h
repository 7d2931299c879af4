// One member's part of one synchronisation, written once for all backends.
//
//   group mean     all-reduce of weight * parameters over the communicator (a forwarder gives zeros
//                  and keeps its own); background: of the snapshot s, and x += mean - s at the end
//   pair mean      both send a snapshot s to each other; blocking: x = (s + s')/2; passive and
//                  background: x += (s' - s)/2
//   neighbour mix  sources send what they published at the start's step; the reader adds them up
//   push, pull     one transfer per server, of its shard; what a server makes of what was pushed is
//                  its optimiser's (runtime/shard_optimiser.h)
// With training that averages gradients a group mean is of them instead of the parameters.
// Equal weights of a group mean are applied to the sum, unequal ones before it. A member that fails
// keeps its parameters and its snapshot, except where Transport::outlives_failure() says no.
// `--verify` samples group and pair means: what this member put in, and the mean that it got.
// States: creating the communicator, transfer, local arithmetic, over. poll() never waits for a
// peer, except where the transport's all-reduce does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/replica.h"
#include "runtime/transport.h"

namespace cohort {

class Operation {
 public:
  virtual ~Operation() = default;  // of an unfinished one: cancels
  // Whether it is over. Throws SyncFailure.
  [[nodiscard]] virtual bool poll() = 0;
  // Once over: when the transfer began, and what was compared, if `verify`.
  [[nodiscard]] virtual const message::Done& result() const = 0;
};

// `rendezvous`: what the first member drew; empty where none is needed. `now` tells the group
// generator's time.
struct OperationContext {
  Replica& replica;
  Transport& transport;
  std::function<Time()> now;
};
[[nodiscard]] std::unique_ptr<Operation> begin_operation(const message::Start& start,
                                                         std::vector<std::uint8_t> rendezvous,
                                                         const OperationContext& context);

// What `--verify` sends: see message::Sample. Waits for the unit.
[[nodiscard]] message::Sample sample(const float* entries, std::size_t count, SyncId sync,
                                     VectorUnit& unit);

}  // namespace cohort
