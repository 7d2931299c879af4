// Standard normal draws by the ziggurat: [Marsaglia Tsang 2000] with the independent layer number
// and uniform of [Doornik 2005], 128 layers. The distribution is exact; 98.8 % of the draws cost
// one 64-bit number and a multiplication, which makes it several times faster than Box-Muller.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "policies/random.h"

namespace cohort {

class NormalZiggurat {
 public:
  NormalZiggurat() {
    double density = std::exp(-0.5 * kTailStart * kTailStart);
    edge_[0] = kLayerArea / density;
    edge_[1] = kTailStart;
    for (std::size_t i = 2; i < kLayers; ++i) {
      edge_[i] = std::sqrt(-2 * std::log(kLayerArea / edge_[i - 1] + density));
      density = std::exp(-0.5 * edge_[i] * edge_[i]);
    }
    edge_[kLayers] = 0;
    for (std::size_t i = 0; i < kLayers; ++i) inside_[i] = edge_[i + 1] / edge_[i];
  }

  [[nodiscard]] double operator()(Stream& stream) const {
    const std::uint64_t bits = stream.next_u64();
    const std::size_t layer = bits % kLayers;
    const double u = signed_uniform(bits);
    if (std::abs(u) < inside_[layer]) [[likely]]
      return u * edge_[layer];
    return at_the_rim(stream, layer, u);
  }

 private:
  static constexpr std::size_t kLayers = 128;
  static constexpr double kTailStart = 3.442619855899;
  static constexpr double kLayerArea = 9.91256303526217e-3;

  // On (-1, 1): the upper 53 bits, apart from the layer's.
  [[nodiscard]] static double signed_uniform(std::uint64_t bits) {
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-52 - 1;
  }

  [[nodiscard]] double at_the_rim(Stream& stream, std::size_t layer, double u) const;

  std::array<double, kLayers + 1> edge_{};  // x where each layer ends, outermost first
  std::array<double, kLayers> inside_{};    // share of the layer that lies wholly under the density
};

}  // namespace cohort
