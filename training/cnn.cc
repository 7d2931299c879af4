#include "training/cnn.h"

#include <fmt/format.h>

#include "policies/errors.h"
#include "training/conv_layer.h"
#include "training/layers.h"
#include "training/memory_check.h"

namespace cohort {
namespace {

// What one sample is spread out to (training/conv_layer.h), by both layers together.
double spread_numbers(const CnnOptions& options, ImageShape input) {
  const double kernel = static_cast<double>(options.kernel) * options.kernel;
  double pixels = static_cast<double>(input.height) * input.width, numbers = 0;
  double channels = input.channels;
  for (const auto outputs : options.channels) {
    numbers += pixels * (channels * kernel + outputs);
    channels = outputs;
    pixels /= 4;
  }
  return numbers;
}

template <typename T>
class Cnn final : public Model<T> {
 public:
  Cnn(const CnnOptions& options, ImageShape input, std::uint32_t classes)
      : first_(input, options.channels[0], options.kernel),
        second_(first_.output(), options.channels[1], options.kernel),
        dense_{static_cast<long>(second_.output().features()), long{classes}} {}

  [[nodiscard]] std::size_t parameters() const override { return dense_at() + dense_.parameters(); }

  void initialise(std::uint64_t seed, std::span<T> parameters) const override {
    initialise_layer(seed, 0, first_.inputs(), parameters.first(first_.parameters()));
    initialise_layer(seed, 1, second_.inputs(),
                     parameters.subspan(first_.parameters(), second_.parameters()));
    initialise_layer(seed, 2, dense_.inputs, parameters.subspan(dense_at()));
  }

  [[nodiscard]] double gradient(std::span<const T> parameters, const Batch<T>& batch,
                                std::span<T> gradient) override {
    forward(parameters.data(), batch);
    const auto loss = softmax_loss(logits_.data(), dense_.outputs, batch, true);
    backward(parameters.data(), static_cast<long>(batch.size), gradient.data());
    return loss.loss_sum / static_cast<double>(batch.size);
  }

  [[nodiscard]] Evaluation evaluate(std::span<const T> parameters, const Batch<T>& batch) override {
    forward(parameters.data(), batch);
    return softmax_loss(logits_.data(), dense_.outputs, batch, false);
  }

 private:
  [[nodiscard]] std::size_t dense_at() const { return first_.parameters() + second_.parameters(); }

  void make_room(std::size_t batch) {
    if (logits_.size() >= batch * static_cast<std::size_t>(dense_.outputs)) return;
    for (auto* buffer : {&maps_, &maps_back_}) buffer->resize(batch * first_.output().features());
    for (auto* buffer : {&flat_, &flat_back_}) buffer->resize(batch * second_.output().features());
    logits_.resize(batch * static_cast<std::size_t>(dense_.outputs));
  }

  void forward(const T* parameters, const Batch<T>& batch) {
    make_room(batch.size);
    first_.forward(parameters, batch.inputs.data(), batch.size, maps_.data());
    second_.forward(parameters + first_.parameters(), maps_.data(), batch.size, flat_.data());
    dense_.forward(parameters + dense_at(), flat_.data(), static_cast<long>(batch.size),
                   logits_.data());
  }

  void backward(const T* parameters, long size, T* gradient) {
    dense_.backward(flat_.data(), logits_.data(), size, gradient + dense_at());
    dense_.backward_input(parameters + dense_at(), logits_.data(), size, flat_back_.data());
    second_.backward(parameters + first_.parameters(), flat_back_.data(),
                     gradient + first_.parameters(), maps_back_.data());
    first_.backward(parameters, maps_back_.data(), gradient, nullptr);
  }

  ConvLayer<T> first_, second_;
  DenseLayer<T> dense_;
  std::vector<T> maps_, maps_back_;  // output of the first layer and its gradient
  std::vector<T> flat_, flat_back_;  // of the second
  std::vector<T> logits_;
};

}  // namespace

template <typename T>
std::unique_ptr<Model<T>> make_cnn(const CnnOptions& options, ImageShape input,
                                   std::uint32_t classes) {
  if (input.height < 4 || input.width < 4)
    throw InputError("/model", fmt::format("cnn on images of {} x {}; allowed: at least 4 x 4",
                                           input.height, input.width));
  require_memory(spread_numbers(options, input) * sizeof(T),
                 {.where = "/model",
                  .what = "the columns of a cnn's convolutions",
                  .allowed = "smaller images, fewer channels or a smaller kernel"});
  return std::make_unique<Cnn<T>>(options, input, classes);
}

template std::unique_ptr<Model<float>> make_cnn(const CnnOptions&, ImageShape, std::uint32_t);
template std::unique_ptr<Model<double>> make_cnn(const CnnOptions&, ImageShape, std::uint32_t);

}  // namespace cohort
