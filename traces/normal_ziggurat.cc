#include "traces/normal_ziggurat.h"

namespace cohort {
namespace {

// Beyond `start`, by the exponential envelope of [Marsaglia 1964].
double tail(Stream& stream, double start) {
  double x = 0;
  double y = 0;
  do {
    x = stream.exponential() / start;
    y = stream.exponential();
  } while (2 * y < x * x);
  return start + x;
}

}  // namespace

double NormalZiggurat::at_the_rim(Stream& stream, std::size_t layer, double u) const {
  for (;;) {
    if (std::abs(u) < inside_[layer]) return u * edge_[layer];
    if (layer == 0) return std::copysign(tail(stream, kTailStart), u);
    const double x = u * edge_[layer];
    const double lower = std::exp(-0.5 * (edge_[layer] * edge_[layer] - x * x));
    const double upper = std::exp(-0.5 * (edge_[layer + 1] * edge_[layer + 1] - x * x));
    if (upper + stream.uniform() * (lower - upper) < 1) return x;
    const std::uint64_t bits = stream.next_u64();
    layer = bits % kLayers;
    u = signed_uniform(bits);
  }
}

}  // namespace cohort
