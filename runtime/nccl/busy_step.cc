#include "runtime/nccl/busy_step.h"

#include <algorithm>
#include <chrono>

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSide = 1024;  // some tens of microseconds on a data-centre GPU
constexpr std::size_t kMatrix = std::size_t{kSide} * kSide;
constexpr std::uint64_t kWarmUp = 4;  // the first product loads the library's kernels
constexpr std::uint64_t kMeasured = 64;
constexpr Time kLongestStretch = std::chrono::milliseconds(20);  // between looks at the clock

}  // namespace

BusyStep::BusyStep(const Gpu& gpu)
    : gpu_(gpu),
      vectors_(gpu),
      matrices_(vectors_, 3 * kMatrix),
      begun_(gpu, GpuEvent::Use::Time),
      ended_(gpu, GpuEvent::Use::Time) {
  multiply(kWarmUp);
  measure(kMeasured);
}

bool BusyStep::compute(Replica& replica, std::uint64_t, Time work) {
  const auto end = Clock::now() + work;
  gpu_.use();
  for (auto left = work; left > product_ / 2 && !replica.over; left = end - Clock::now()) {
    const auto stretch = std::min(left, kLongestStretch);
    measure(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(stretch / product_)));
  }
  return true;
}

Time BusyStep::multiply(std::uint64_t products) {
  const float one = 1;
  const float zero = 0;
  float* left = matrices_.entries();
  vectors_.stream().record(begun_);
  for (std::uint64_t i = 0; i < products; ++i) {
    check(cublasSgemm(vectors_.cublas(), CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, left,
                      kSide, left + kMatrix, kSide, &zero, left + 2 * kMatrix, kSide),
          "cublasSgemm", gpu_.site());
  }
  vectors_.stream().record(ended_);
  ended_.wait();
  const std::chrono::duration<float, std::milli> taken(ended_.milliseconds_since(begun_));
  return std::chrono::duration_cast<Time>(taken);
}

void BusyStep::measure(std::uint64_t products) {
  product_ = std::max<Time>(Time(1), multiply(products) / products);
}

}  // namespace cohort
