#include "runtime/nccl/device_model.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/nccl/device_layers.h"
#include "training/quadratic.h"

namespace cohort {
namespace {

// What all models have: a stream, and losses that come back from it.
class DeviceModel : public ModelUnit {
 public:
  DeviceModel(const Gpu& gpu, const GpuStream& others, long losses)
      : gpu_(gpu),
        others_(others),
        vectors_(gpu),
        work_(gpu, vectors_.stream(), vectors_.cublas()),
        losses_(work_.array<float>(losses)),
        read_losses_(static_cast<std::size_t>(losses)) {}

  void follow() override {
    gpu_.use();
    work_.stream().follow(others_);
  }

  double gradient(const float* parameters, const BatchChoice& batch, float* gradient) final {
    gpu_.use();
    try {
      return compute(parameters, batch, gradient);
    } catch (...) {
      // What is queued may still read the batch and what else the host is about to give up.
      cudaStreamSynchronize(work_.stream().handle());
      throw;
    }
  }

 protected:
  virtual double compute(const float* parameters, const BatchChoice& batch, float* gradient) = 0;
  [[nodiscard]] const DeviceWork& work() const { return work_; }
  [[nodiscard]] float* losses() const { return losses_.entries(); }
  // Waits.
  [[nodiscard]] double sum_of_losses() {
    losses_.read(read_losses_);
    return std::accumulate(read_losses_.begin(), read_losses_.end(), 0.0);
  }

 private:
  const Gpu& gpu_;
  const GpuStream& others_;
  DeviceVectors vectors_;
  DeviceWork work_;
  DeviceArray<float> losses_;
  std::vector<float> read_losses_;
};

// The training set there, and the batch that was last taken from it.
class DeviceBatch {
 public:
  DeviceBatch(const DeviceWork& work, const Dataset& dataset, long batch)
      : work_(work),
        features_(static_cast<long>(dataset.shape.features())),
        scale_(1 / dataset.deviation),
        shift_(-dataset.mean / dataset.deviation),
        pixels_(work.copy<std::uint8_t>(dataset.training.pixels)),
        all_labels_(work.copy<std::uint8_t>(dataset.training.labels)),
        samples_(work.array<std::uint32_t>(batch)),
        inputs_(work.array<float>(batch * features_)),
        labels_(work.array<std::uint8_t>(batch)) {}

  // `samples` must stay as they are until the stream has come there.
  void take(std::span<const std::uint32_t> samples) {
    samples_.write(samples);
    work_.each(static_cast<long>(samples.size()) * features_,
               GatherBody{pixels_.entries(), all_labels_.entries(), samples_.entries(), features_,
                          static_cast<float>(scale_), static_cast<float>(shift_), inputs_.entries(),
                          labels_.entries()});
  }

  [[nodiscard]] const float* inputs() const { return inputs_.entries(); }
  [[nodiscard]] const std::uint8_t* labels() const { return labels_.entries(); }

 private:
  const DeviceWork& work_;
  long features_;
  double scale_;
  double shift_;
  DeviceArray<std::uint8_t> pixels_;
  DeviceArray<std::uint8_t> all_labels_;
  DeviceArray<std::uint32_t> samples_;
  DeviceArray<float> inputs_;
  DeviceArray<std::uint8_t> labels_;
};

// Layers for batches of images of one shape.
struct MakeLayers {
  const DeviceWork& work;
  ImageShape input;
  long classes;
  long batch;
  using Layers = std::vector<std::unique_ptr<DeviceLayer>>;

  Layers operator()(const SoftmaxOptions&) const { return dense({}); }
  Layers operator()(const MlpOptions& options) const { return dense(options.hidden); }
  Layers operator()(const CnnOptions& options) const {
    Layers layers;
    ConvShape shape{.batch = batch,
                    .inputs = input.channels,
                    .height = input.height,
                    .width = input.width,
                    .kernel = options.kernel,
                    .outputs = options.channels[0]};
    layers.push_back(make_device_conv(work, shape));
    shape.inputs = shape.outputs;
    shape.height /= 2;
    shape.width /= 2;
    shape.outputs = options.channels[1];
    layers.push_back(make_device_conv(work, shape));
    layers.push_back(make_device_dense(work, batch, layers.back()->outputs(), classes, false));
    return layers;
  }

  Layers dense(const std::vector<std::uint32_t>& hidden) const {
    Layers layers;
    auto width = static_cast<long>(input.features());
    for (const auto units : hidden)
      layers.push_back(make_device_dense(work, batch, std::exchange(width, units), units, true));
    layers.push_back(make_device_dense(work, batch, width, classes, false));
    return layers;
  }
};

class Network : public DeviceModel {
 public:
  template <class Options>
  Network(const Gpu& gpu, const GpuStream& others, const Options& model, const Dataset& dataset,
          long batch)
      : DeviceModel(gpu, others, batch),
        size_(batch),
        classes_(dataset.classes),
        batch_(work(), dataset, batch),
        layers_(MakeLayers{work(), dataset.shape, classes_, batch}(model)) {
    long widest = 0;
    for (const auto& layer : layers_) {
      outputs_.push_back(work().template array<float>(batch * layer->outputs()));
      widest = std::max(widest, layer->outputs());
    }
    for (auto& back : back_) back = work().template array<float>(batch * widest);
  }

 private:
  double compute(const float* parameters, const BatchChoice& batch, float* gradient) override {
    batch_.take(batch.samples);
    forward(parameters);
    work().each(size_, SoftmaxLossBody<float>{batch_.labels(), classes_, size_,
                                              outputs_.back().entries(), losses()});
    backward(parameters, gradient);
    return sum_of_losses() / static_cast<double>(size_);
  }

  [[nodiscard]] const float* input_of(std::size_t layer) const {
    return layer == 0 ? batch_.inputs() : outputs_[layer - 1].entries();
  }

  void forward(const float* parameters) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      layers_[l]->forward(parameters, input_of(l), outputs_[l].entries());
      parameters += layers_[l]->parameters();
    }
  }

  // The logits have given way to their gradient; below, two buffers take turns.
  void backward(const float* parameters, float* gradient) {
    auto at = std::accumulate(layers_.begin(), layers_.end(), 0L, [](long sum, const auto& layer) {
      return sum + layer->parameters();
    });
    float* dy = outputs_.back().entries();
    for (std::size_t l = layers_.size(); l-- > 0;) {
      at -= layers_[l]->parameters();
      float* dx = l == 0 ? nullptr : back_[l % 2].entries();
      layers_[l]->backward(parameters + at, {input_of(l), outputs_[l].entries(), dy}, gradient + at,
                           dx);
      dy = dx;
    }
  }

  long size_;
  long classes_;
  DeviceBatch batch_;
  MakeLayers::Layers layers_;
  std::vector<DeviceArray<float>> outputs_;
  std::array<DeviceArray<float>, 2> back_;
};

std::vector<float> curvature_of(const QuadraticOptions& options) {
  const auto values = eigenvalues(options);
  return {values.begin(), values.end()};
}

std::vector<float> optimum_of(const QuadraticOptions& options) {
  std::vector<float> optimum(options.dimensions);
  draw_optimum<float>(optimum);
  return optimum;
}

// Its noise is drawn on the host, as all is that is drawn.
class DeviceQuadratic : public DeviceModel {
 public:
  DeviceQuadratic(const Gpu& gpu, const GpuStream& others, const QuadraticOptions& options,
                  std::size_t batch)
      : DeviceModel(gpu, others, options.dimensions),
        options_(options),
        batch_(batch),
        drawn_(options.dimensions),
        curvature_(work().copy<float>(curvature_of(options))),
        optimum_(work().copy<float>(optimum_of(options))),
        noise_(work().array<float>(options.dimensions)) {}

 private:
  double compute(const float* parameters, const BatchChoice& batch, float* gradient) override {
    Batch<float> named;
    named.size = batch_;
    named.seed = batch.seed;
    named.worker = batch.worker;
    named.step = batch.step;
    draw_noise<float>(options_, named, drawn_);
    noise_.write(drawn_);
    work().each(static_cast<long>(drawn_.size()),
                QuadraticBody{parameters, curvature_.entries(), optimum_.entries(),
                              noise_.entries(), gradient, losses()});
    return sum_of_losses();
  }

  QuadraticOptions options_;
  std::size_t batch_;
  std::vector<float> drawn_;
  DeviceArray<float> curvature_;
  DeviceArray<float> optimum_;
  DeviceArray<float> noise_;
};

struct Make {
  const Gpu& gpu;
  const GpuStream& others;
  const Dataset& dataset;
  std::uint32_t batch;

  std::unique_ptr<ModelUnit> operator()(const QuadraticOptions& options) const {
    return std::make_unique<DeviceQuadratic>(gpu, others, options, batch);
  }
  template <class Options>
  std::unique_ptr<ModelUnit> operator()(const Options& options) const {
    return std::make_unique<Network>(gpu, others, options, dataset, long{batch});
  }
};

}  // namespace

std::unique_ptr<ModelUnit> make_device_model(const Gpu& gpu, const GpuStream& others,
                                             const TrainingSpec& spec, const Dataset& dataset) {
  gpu.use();
  return std::visit(Make{gpu, others, dataset, spec.batch}, spec.model);
}

}  // namespace cohort
