#include "runtime/host_vectors.h"

#include <Eigen/Core>
#include <algorithm>
#include <new>

#include "policies/errors.h"
#include "training/sgd.h"

namespace cohort {
namespace {

constexpr std::align_val_t kAlignment{64};  // a cache line, and every vector register

using Entries = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;
using Part = Eigen::Map<Eigen::ArrayXf>;  // begins anywhere in a buffer
using ConstPart = Eigen::Map<const Eigen::ArrayXf>;

}  // namespace

float* HostVectors::allocate(std::size_t count) {
  try {
    auto* entries = static_cast<float*>(::operator new(count * sizeof(float), kAlignment));
    Entries(entries, static_cast<Eigen::Index>(count)).setZero();
    return entries;
  } catch (const std::bad_alloc&) {
    throw EnvironmentError("no room in memory for " + std::to_string(count) + " parameters");
  }
}

void HostVectors::free(float* entries) { ::operator delete(entries, kAlignment); }

void HostVectors::copy(const float* from, float* to, std::size_t count) {
  std::copy_n(from, count, to);
}

void HostVectors::scale(double factor, float* entries, std::size_t count) {
  Part(entries, static_cast<Eigen::Index>(count)) *= static_cast<float>(factor);
}

void HostVectors::add(double factor, const float* from, float* to, std::size_t count) {
  const auto size = static_cast<Eigen::Index>(count);
  Part(to, size) += static_cast<float>(factor) * ConstPart(from, size);
}

void HostVectors::descend(const SgdOptions& options, double rate, const Descent& descent) {
  const std::span parameters(descent.parameters, descent.count);
  const std::span velocity(descent.velocity, options.momentum > 0 ? descent.count : 0);
  sgd_update<float>(
      options, rate,
      {{descent.gradient, descent.count}, parameters, velocity, parameters, velocity});
}

void HostVectors::write(std::span<const float> from, float* to) {
  std::copy(from.begin(), from.end(), to);
}

void HostVectors::read(const float* from, std::span<float> to) {
  std::copy_n(from, to.size(), to.begin());
}

std::unique_ptr<Request> HostVectors::fence() { return std::make_unique<OverRequest>(); }

}  // namespace cohort
