#include "training/quadratic.h"

#include <cmath>

#include "policies/errors.h"
#include "policies/random.h"

namespace cohort {
namespace {

constexpr std::uint32_t kOptimum = 1;  // sub-streams of the initial parameters

template <typename T>
void fill_normal(Stream stream, double deviation, std::span<T> numbers) {
  for (auto& number : numbers) number = static_cast<T>(deviation * stream.normal());
}

template <typename T>
class Quadratic final : public Model<T> {
 public:
  explicit Quadratic(const QuadraticOptions& options)
      : options_(options), optimum_(options.dimensions), noise_(options.dimensions) {
    for (const double value : eigenvalues(options)) curvature_.push_back(static_cast<T>(value));
    draw_optimum<T>(optimum_);
  }

  [[nodiscard]] std::size_t parameters() const override { return optimum_.size(); }

  void initialise(std::uint64_t seed, std::span<T> parameters) const override {
    fill_normal(Stream(seed, Purpose::InitialParameters, 0, 0), 1, parameters);
  }

  [[nodiscard]] double gradient(std::span<const T> parameters, const Batch<T>& batch,
                                std::span<T> gradient) override {
    draw_noise<T>(options_, batch, noise_);
    double loss = 0;
    for (std::size_t i = 0; i < optimum_.size(); ++i) {
      const T away = parameters[i] - optimum_[i];
      loss += static_cast<double>(away * (curvature_[i] * away / 2 + noise_[i]));
      gradient[i] = curvature_[i] * away + noise_[i];
    }
    return loss;
  }

  // Every sample of the batch has the same loss, f.
  [[nodiscard]] Evaluation evaluate(std::span<const T> parameters, const Batch<T>& batch) override {
    double loss = 0;
    for (std::size_t i = 0; i < optimum_.size(); ++i) {
      const T away = parameters[i] - optimum_[i];
      loss += static_cast<double>(curvature_[i] * away * away) / 2;
    }
    return {.loss_sum = loss * static_cast<double>(batch.size), .samples = batch.size};
  }

 private:
  QuadraticOptions options_;
  std::vector<T> curvature_;
  std::vector<T> optimum_;
  std::vector<T> noise_;
};

}  // namespace

std::vector<double> eigenvalues(const QuadraticOptions& options) {
  std::vector<double> values;
  const double last = std::max(options.dimensions, 2U) - 1;
  for (std::uint32_t i = 0; i < options.dimensions; ++i)
    values.push_back(std::pow(options.condition_number, -(i / last)));
  return values;
}

template <typename T>
void draw_optimum(std::span<T> optimum) {
  fill_normal(Stream(0, Purpose::InitialParameters, 0, 0, kOptimum), 1, optimum);
}

template <typename T>
void draw_noise(const QuadraticOptions& options, const Batch<T>& batch, std::span<T> noise) {
  fill_normal(Stream(batch.seed, Purpose::DataOrder, index(batch.worker), batch.step),
              std::sqrt(options.noise_variance / static_cast<double>(batch.size)), noise);
}

double stationary_loss(const QuadraticOptions& options, double learning_rate, double momentum,
                       double gradient_variance) {
  if (learning_rate <= 0 || learning_rate >= 2 * (1 + momentum))
    throw ContractError("quadratic: no stationary loss at this learning rate");
  double sum = 0;
  for (const double value : eigenvalues(options))
    sum += 1 / (2 * (1 + momentum) - learning_rate * value);
  return learning_rate * gradient_variance * (1 + momentum) / (2 * (1 - momentum)) * sum;
}

template <typename T>
std::unique_ptr<Model<T>> make_quadratic(const QuadraticOptions& options) {
  return std::make_unique<Quadratic<T>>(options);
}

template void draw_optimum(std::span<float>);
template void draw_optimum(std::span<double>);
template void draw_noise(const QuadraticOptions&, const Batch<float>&, std::span<float>);
template void draw_noise(const QuadraticOptions&, const Batch<double>&, std::span<double>);
template std::unique_ptr<Model<float>> make_quadratic(const QuadraticOptions&);
template std::unique_ptr<Model<double>> make_quadratic(const QuadraticOptions&);

}  // namespace cohort
