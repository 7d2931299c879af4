// Vectors in host memory, on the calling thread: everything is over when it returns.
#pragma once

#include "runtime/vector_unit.h"

namespace cohort {

class HostVectors : public VectorUnit {
 public:
  [[nodiscard]] float* allocate(std::size_t count) override;
  void free(float* entries) override;
  void copy(const float* from, float* to, std::size_t count) override;
  void scale(double factor, float* entries, std::size_t count) override;
  void add(double factor, const float* from, float* to, std::size_t count) override;
  void descend(const SgdOptions& options, double rate, const Descent& descent) override;
  void write(std::span<const float> from, float* to) override;
  void read(const float* from, std::span<float> to) override;
  [[nodiscard]] std::unique_ptr<Request> fence() override;
};

}  // namespace cohort
