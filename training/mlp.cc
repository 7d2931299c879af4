#include "training/mlp.h"

#include <algorithm>
#include <utility>

#include "training/layers.h"

namespace cohort {
namespace {

template <typename T>
class Mlp final : public Model<T> {
 public:
  Mlp(std::size_t inputs, std::span<const std::uint32_t> hidden, std::uint32_t classes) {
    auto width = static_cast<long>(inputs);
    for (const auto units : hidden) layers_.push_back({std::exchange(width, units), long{units}});
    layers_.push_back({width, long{classes}});
    outputs_.resize(layers_.size());
    for (const auto& layer : layers_) {
      parameters_ += layer.parameters();
      widest_ = std::max(widest_, static_cast<std::size_t>(layer.outputs));
    }
  }

  [[nodiscard]] std::size_t parameters() const override { return parameters_; }

  void initialise(std::uint64_t seed, std::span<T> parameters) const override {
    for (std::uint32_t l = 0; l < layers_.size(); ++l) {
      const auto count = layers_[l].parameters();
      initialise_layer(seed, l, layers_[l].inputs, parameters.first(count));
      parameters = parameters.subspan(count);
    }
  }

  [[nodiscard]] double gradient(std::span<const T> parameters, const Batch<T>& batch,
                                std::span<T> gradient) override {
    forward(parameters.data(), batch);
    const auto loss = softmax_loss(outputs_.back().data(), layers_.back().outputs, batch, true);
    backward(parameters.data() + parameters_, batch, gradient.data() + parameters_);
    return loss.loss_sum / static_cast<double>(batch.size);
  }

  [[nodiscard]] Evaluation evaluate(std::span<const T> parameters, const Batch<T>& batch) override {
    forward(parameters.data(), batch);
    return softmax_loss(outputs_.back().data(), layers_.back().outputs, batch, false);
  }

 private:
  void make_room(std::size_t batch) {
    const auto needed = batch * widest_;
    if (back_.size() >= needed) return;
    for (auto& output : outputs_) output.resize(needed);
    back_.resize(needed);
  }

  const T* input_of(std::size_t layer, const Batch<T>& batch) const {
    return layer == 0 ? batch.inputs.data() : outputs_[layer - 1].data();
  }

  void forward(const T* parameters, const Batch<T>& batch) {
    make_room(batch.size);
    const auto size = static_cast<long>(batch.size);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (l > 0) relu(outputs_[l - 1].data(), size * layers_[l].inputs);
      layers_[l].forward(parameters, input_of(l, batch), size, outputs_[l].data());
      parameters += layers_[l].parameters();
    }
  }

  // From the last layer to the first; each layer's output gives way to its gradient, once the layer
  // above has used it.
  void backward(const T* parameters_end, const Batch<T>& batch, T* gradient_end) {
    const auto size = static_cast<long>(batch.size);
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const auto& layer = layers_[l];
      parameters_end -= layer.parameters();
      gradient_end -= layer.parameters();
      layer.backward(input_of(l, batch), outputs_[l].data(), size, gradient_end);
      if (l == 0) break;
      layer.backward_input(parameters_end, outputs_[l].data(), size, back_.data());
      relu_backward(outputs_[l - 1].data(), back_.data(), size * layer.inputs);
      std::swap(back_, outputs_[l - 1]);
    }
  }

  std::vector<DenseLayer<T>> layers_;
  std::size_t parameters_ = 0;
  std::size_t widest_ = 0;
  std::vector<std::vector<T>> outputs_;  // after ReLU, but for the last layer's: its logits
  std::vector<T> back_;  // all of these are equally long, so that they can be swapped
};

}  // namespace

template <typename T>
std::unique_ptr<Model<T>> make_mlp(std::size_t inputs, std::span<const std::uint32_t> hidden,
                                   std::uint32_t classes) {
  return std::make_unique<Mlp<T>>(inputs, hidden, classes);
}

template std::unique_ptr<Model<float>> make_mlp(std::size_t, std::span<const std::uint32_t>,
                                                std::uint32_t);
template std::unique_ptr<Model<double>> make_mlp(std::size_t, std::span<const std::uint32_t>,
                                                 std::uint32_t);

}  // namespace cohort
