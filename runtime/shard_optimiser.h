// A server's half of a parameter server: how what workers push becomes an update of its shard.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/messages.h"
#include "runtime/vector_unit.h"

namespace cohort {

// Called by the sync thread with the replica's lock.
class ShardOptimiser {
 public:
  virtual ~ShardOptimiser() = default;
  // A worker's gradient has come; the shard may change now or at the next pull. `gradient` may be
  // used up.
  virtual void push(WorkerId worker, Buffer& gradient, Buffer& shard) = 0;
  // Before the shard is read: what was pushed is in it afterwards.
  virtual void pull(WorkerId worker, Buffer& shard) = 0;
};

// Of emulated steps: a gradient is a change to be added, as message::Prepare::update says: once a
// round the mean of those that came, or of each its share of 1/n.
[[nodiscard]] std::unique_ptr<ShardOptimiser> make_adding_optimiser(const message::Prepare& prepare,
                                                                    VectorUnit& unit,
                                                                    std::size_t entries);

}  // namespace cohort
