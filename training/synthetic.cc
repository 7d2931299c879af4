#include "training/synthetic.h"

#include <algorithm>
#include <cmath>

#include "policies/random.h"
#include "traces/normal_ziggurat.h"

namespace cohort {
namespace {

constexpr double kCentre = 127.5;
constexpr double kSpread = 42.5;
constexpr std::uint32_t kTeacher = 2;  // sub-streams
constexpr std::uint32_t kSamples = 1;

struct Layer {
  std::size_t inputs;
  std::vector<double> weights;  // outputs x inputs, row by row

  [[nodiscard]] std::vector<double> operator()(const std::vector<double>& x) const {
    std::vector<double> y;
    for (auto row = weights.begin(); row != weights.end(); row += static_cast<long>(inputs)) {
      double sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) sum += row[static_cast<long>(i)] * x[i];
      y.push_back(sum);
    }
    return y;
  }
};

class Maker {
 public:
  explicit Maker(const SyntheticOptions& options)
      : options_(options), pixels_(std::size_t{options.side} * options.side) {
    auto inputs = pixels_;
    if (options.teacher_hidden > 0) {
      hidden_ = {layer(0, inputs, options.teacher_hidden)};
      inputs = options.teacher_hidden;
    }
    output_ = layer(1, inputs, options.classes);
  }

  [[nodiscard]] Samples samples(std::uint32_t half, std::uint32_t count) const {
    Samples all;
    all.pixels.reserve(count * pixels_);
    std::vector<double> z(pixels_);
    for (std::uint32_t i = 0; i < count; ++i) {
      Stream stream(options_.seed, Purpose::DataOrder, i, half, kSamples);
      for (auto& number : z) {
        const double pixel = std::round(kCentre + kSpread * normal_(stream));
        all.pixels.push_back(static_cast<std::uint8_t>(std::clamp(pixel, 0.0, 255.0)));
        number = (all.pixels.back() - kCentre) / kSpread;
      }
      all.labels.push_back(static_cast<std::uint8_t>(noisy(label(z), stream)));
    }
    return all;
  }

 private:
  [[nodiscard]] Layer layer(std::uint32_t number, std::size_t inputs, std::size_t outputs) const {
    Layer made{inputs, std::vector<double>(inputs * outputs)};
    for (std::size_t o = 0; o < outputs; ++o) {
      Stream stream(options_.seed, Purpose::InitialParameters, number, o, kTeacher);
      for (std::size_t i = 0; i < inputs; ++i)
        made.weights[o * inputs + i] = normal_(stream) / std::sqrt(static_cast<double>(inputs));
    }
    return made;
  }

  [[nodiscard]] std::uint32_t label(std::vector<double> z) const {
    for (const auto& hidden : hidden_) {
      z = hidden(z);
      for (auto& number : z) number = std::tanh(number);
    }
    z = output_(z);
    return static_cast<std::uint32_t>(std::ranges::max_element(z) - z.begin());
  }

  [[nodiscard]] std::uint32_t noisy(std::uint32_t label, Stream& stream) const {
    if (stream.uniform() >= options_.label_noise) return label;
    return (label + 1 + stream.below(options_.classes - 1)) % options_.classes;
  }

  SyntheticOptions options_;
  NormalZiggurat normal_;
  std::size_t pixels_;
  std::vector<Layer> hidden_;
  Layer output_{};
};

}  // namespace

Dataset make_synthetic(const SyntheticOptions& options) {
  const Maker maker(options);
  Dataset dataset{.shape = {1, options.side, options.side},
                  .classes = options.classes,
                  .training = maker.samples(0, options.training_samples),
                  .test = maker.samples(1, options.test_samples)};
  standardise(dataset);
  return dataset;
}

}  // namespace cohort
