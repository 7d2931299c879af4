// What one kind of hardware and library brings: memory, transport, compute. One per
// process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/local_step.h"
#include "runtime/model_unit.h"
#include "runtime/transport.h"
#include "runtime/vector_unit.h"
#include "training/training_plan.h"

namespace cohort {

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;    // "mpi", "nccl"
  [[nodiscard]] virtual std::string device() const = 0;  // for Hello
  [[nodiscard]] virtual VectorUnit& vectors() = 0;
  [[nodiscard]] virtual Transport& transport() = 0;
  [[nodiscard]] virtual std::unique_ptr<LocalStep> emulated_step() = 0;
  // Gradients of the plan's model where vectors() are; null: those are in the host's memory, and so
  // are its models. This outlives it. Throws EnvironmentError.
  [[nodiscard]] virtual std::unique_ptr<ModelUnit> model(const TrainingPlan&) { return nullptr; }
};

}  // namespace cohort
