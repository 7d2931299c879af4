// Memory for parameters and the few operations on them, where the backend holds them: host memory
// (Eigen) or a GPU's (CUDA, cuBLAS). All calls queue on one stream in the order given; `fence()`
// tells when those before it are over. Called by one thread at a time (the replica's lock).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/transport.h"
#include "training/training_spec.h"

namespace cohort {

// What one update of SGD reads and changes (training/sgd.h).
struct Descent {
  const float* gradient = nullptr;
  float* parameters = nullptr;
  float* velocity = nullptr;  // unused without momentum
  std::size_t count = 0;
};

class VectorUnit {
 public:
  virtual ~VectorUnit() = default;

  // Zeros. Throws EnvironmentError when there is no room.
  [[nodiscard]] virtual float* allocate(std::size_t count) = 0;
  virtual void free(float* entries) = 0;

  virtual void copy(const float* from, float* to, std::size_t count) = 0;
  virtual void scale(double factor, float* entries, std::size_t count) = 0;
  virtual void add(double factor, const float* from, float* to,
                   std::size_t count) = 0;  // to += factor * from
  virtual void descend(const SgdOptions& options, double rate, const Descent& descent) = 0;
  virtual void write(std::span<const float> from, float* to) = 0;  // from host memory
  virtual void read(const float* from, std::span<float> to) = 0;   // to host memory; waits
  [[nodiscard]] virtual std::unique_ptr<Request> fence() = 0;
};

// Frees what it holds. Empty when default-constructed.
class Buffer {
 public:
  Buffer() = default;
  Buffer(VectorUnit& unit, std::size_t count)
      : unit_(&unit), entries_(unit.allocate(count)), count_(count) {}
  ~Buffer() {
    if (unit_ != nullptr) unit_->free(entries_);
  }
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(unit_, other.unit_);
    std::swap(entries_, other.entries_);
    std::swap(count_, other.count_);
    return *this;
  }

  [[nodiscard]] float* entries() const { return entries_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  VectorUnit* unit_ = nullptr;
  float* entries_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace cohort
