// What one kind of hardware and library brings: memory, transport, emulated compute. One per
// process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/local_step.h"
#include "runtime/transport.h"
#include "runtime/vector_unit.h"

namespace cohort {

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;    // "mpi", "nccl"
  [[nodiscard]] virtual std::string device() const = 0;  // for Hello
  [[nodiscard]] virtual VectorUnit& vectors() = 0;
  [[nodiscard]] virtual Transport& transport() = 0;
  [[nodiscard]] virtual std::unique_ptr<LocalStep> emulated_step() = 0;
};

}  // namespace cohort
