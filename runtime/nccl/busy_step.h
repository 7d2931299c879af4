// Emulated compute on a GPU: a matrix product (cublasSgemm) repeated on a stream of its own for as
// long as it is told, so that it competes with communication as training would.
//
// How many products fill a time is measured with events at the start and again with every step; the
// clock decides: a step ends within half a product of its time, also when other work slows the
// GPU, and early when nobody waits for it any more (Replica::over).
#pragma once

#include "runtime/emulated_step.h"
#include "runtime/nccl/device_vectors.h"

namespace cohort {

class BusyStep : public LocalStep {
 public:
  // Measures: takes some milliseconds. `gpu` outlives this. Throws EnvironmentError.
  explicit BusyStep(const Gpu& gpu);

  bool compute(Replica& replica, std::uint64_t step, Time work) override;
  void apply(Replica& replica, std::uint64_t step) override { change_.apply(replica, step); }

 private:
  // Queues products and sleeps until they are over; how long the GPU took.
  Time multiply(std::uint64_t products);
  void measure(std::uint64_t products);

  const Gpu& gpu_;
  DeviceVectors vectors_;
  Buffer matrices_;  // two factors and their product
  GpuEvent begun_;
  GpuEvent ended_;
  Time product_{1};  // one takes so long
  EmulatedChange change_;
};

}  // namespace cohort
