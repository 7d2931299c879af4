// A model as a function of one flat vector of parameters: that vector is what policies average and
// transports move, and belongs to the caller.
//
// A model object holds what one thread needs to evaluate it (activations) and no parameters: one
// object per thread serves any number of workers. The order of parameters is that of PyTorch: layer
// by layer weights (outputs x inputs, row by row), then biases. Arithmetic in T (float; double for
// tests), sums of losses in double. After the first call with the largest batch nothing allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "policies/synchronisation.h"
#include "training/training_spec.h"

namespace cohort {

// One image, channel by channel, row by row.
struct ImageShape {
  std::uint32_t channels = 1;
  std::uint32_t height = 1;
  std::uint32_t width = 1;
  [[nodiscard]] std::size_t features() const { return std::size_t{channels} * height * width; }
  bool operator==(const ImageShape&) const = default;
};

template <typename T>
struct Batch {
  std::size_t size = 0;
  std::vector<T> inputs{};  // sample by sample, at least size * features numbers
  std::vector<std::uint8_t> labels{};
  // What the batch is a function of; names the gradient noise of `quadratic`.
  std::uint64_t seed = 0;
  WorkerId worker{0};
  std::uint64_t step = 0;
};

struct Evaluation {
  double loss_sum = 0;
  std::uint64_t correct = 0;
  std::uint64_t samples = 0;
  Evaluation& operator+=(const Evaluation& other) {
    loss_sum += other.loss_sum;
    correct += other.correct;
    samples += other.samples;
    return *this;
  }
};

template <typename T>
class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual std::size_t parameters() const = 0;
  // Initial values: a function of the seed alone, the same for every worker.
  virtual void initialise(std::uint64_t seed, std::span<T> parameters) const = 0;
  // Mean loss over the batch, its gradient into `gradient`. Both spans hold parameters() numbers.
  // Parameters that are not finite give a loss that is not finite, never an exception.
  [[nodiscard]] virtual double gradient(std::span<const T> parameters, const Batch<T>& batch,
                                        std::span<T> gradient) = 0;
  [[nodiscard]] virtual Evaluation evaluate(std::span<const T> parameters,
                                            const Batch<T>& batch) = 0;
};

// The input and classes of the data; without meaning for `quadratic`. Throws InputError when `cnn`
// meets images below 4 x 4. T is float or double.
template <typename T>
[[nodiscard]] std::unique_ptr<Model<T>> make_model(const ModelOptions& options, ImageShape input,
                                                   std::uint32_t classes);

}  // namespace cohort
