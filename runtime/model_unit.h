// A model's gradients where the backend holds its vectors, when that is not the host's memory: the
// same models, order of parameters and batches as training/model.h. Holds the data and activations,
// no parameters. One thread at a time.
#pragma once

#include <cstdint>
#include <span>

#include "policies/synchronisation.h"

namespace cohort {

// A worker's batch of one step, as in training/model.h.
struct BatchChoice {
  std::uint64_t seed = 0;
  WorkerId worker{0};
  std::uint64_t step = 0;
  std::span<const std::uint32_t> samples{};  // as many as the spec's batch; none without data
};

class ModelUnit {
 public:
  virtual ~ModelUnit() = default;
  // The next gradient() begins after what is queued on the backend's vector unit by now. Called as
  // that unit is: with the replica's lock.
  virtual void follow() = 0;
  // Mean loss over the batch, its gradient into `gradient`; both pointers are the vector unit's.
  // Returns when both are there; side by side with what others queue on that unit. A loss that is
  // not finite is returned, too. Throws EnvironmentError.
  [[nodiscard]] virtual double gradient(const float* parameters, const BatchChoice& batch,
                                        float* gradient) = 0;
};

}  // namespace cohort
