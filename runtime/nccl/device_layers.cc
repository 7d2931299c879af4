#include "runtime/nccl/device_layers.h"

#include <vector>

namespace cohort {
namespace {

DeviceArray<float> ones(const DeviceWork& work, long count) {
  return work.copy<float>(std::vector<float>(static_cast<std::size_t>(count), 1.0F));
}

class Dense : public DeviceLayer {
 public:
  Dense(const DeviceWork& work, long batch, long inputs, long outputs, bool relu)
      : work_(work),
        batch_(batch),
        inputs_(inputs),
        outputs_(outputs),
        relu_(relu),
        ones_(ones(work, batch)) {}

  long parameters() const override { return outputs_ * (inputs_ + 1); }
  long outputs() const override { return outputs_; }

  void forward(const float* parameters, const float* x, float* y) override {
    work_.multiply({outputs_, batch_, inputs_}, {parameters, inputs_, true}, {x, inputs_}, y);
    work_.each(outputs_ * batch_, BiasBody{parameters + weights(), outputs_, relu_, y});
  }

  void backward(const float* parameters, const LayerTrace& trace, float* gradient,
                float* dx) override {
    const auto& [x, y, dy] = trace;
    if (relu_) work_.each(outputs_ * batch_, ReluBackwardBody{y, dy});
    work_.multiply({inputs_, outputs_, batch_}, {x, inputs_}, {dy, outputs_, true}, gradient);
    work_.multiply({outputs_, 1, batch_}, {dy, outputs_}, {ones_.entries(), batch_},
                   gradient + weights());
    if (dx == nullptr) return;
    work_.multiply({inputs_, batch_, outputs_}, {parameters, inputs_}, {dy, outputs_}, dx);
  }

 private:
  [[nodiscard]] long weights() const { return outputs_ * inputs_; }

  const DeviceWork& work_;
  long batch_;
  long inputs_;
  long outputs_;
  bool relu_;
  DeviceArray<float> ones_;
};

class Conv : public DeviceLayer {
 public:
  Conv(const DeviceWork& work, const ConvShape& shape)
      : work_(work),
        shape_(shape),
        columns_(work.array<float>(shape.rows() * shape.column())),
        planes_(work.array<float>(shape.rows() * shape.outputs)),
        winners_(work.array<std::uint8_t>(shape.batch * outputs())),
        ones_(ones(work, shape.rows())) {}

  long parameters() const override { return shape_.outputs * (shape_.column() + 1); }
  long outputs() const override { return shape_.outputs * shape_.pooled(); }

  void forward(const float* parameters, const float* x, float* y) override {
    const auto [rows, column] = std::pair(shape_.rows(), shape_.column());
    work_.each(rows * column, SpreadBody{shape_, x, columns_.entries()});
    work_.multiply({rows, shape_.outputs, column}, {columns_.entries(), rows}, {parameters, column},
                   planes_.entries());
    work_.each(shape_.batch * outputs(),
               PoolBody{shape_, planes_.entries(), parameters + weights(), y, winners_.entries()});
  }

  void backward(const float* parameters, const LayerTrace& trace, float* gradient,
                float* dx) override {
    const auto [rows, column] = std::pair(shape_.rows(), shape_.column());
    const auto many = shape_.outputs;
    work_.each(rows * many,
               UnpoolBody{shape_, trace.y, trace.dy, winners_.entries(), planes_.entries()});
    work_.multiply({column, many, rows}, {columns_.entries(), rows, true},
                   {planes_.entries(), rows}, gradient);
    work_.multiply({many, 1, rows}, {planes_.entries(), rows, true}, {ones_.entries(), rows},
                   gradient + weights());
    if (dx == nullptr) return;
    work_.multiply({rows, column, many}, {planes_.entries(), rows}, {parameters, column, true},
                   columns_.entries());
    work_.each(shape_.batch * shape_.inputs * shape_.pixels(),
               CollectBody{shape_, columns_.entries(), dx});
  }

 private:
  [[nodiscard]] long weights() const { return shape_.outputs * shape_.column(); }

  const DeviceWork& work_;
  ConvShape shape_;
  DeviceArray<float> columns_;  // im2col of the last forward(), until backward() has used it
  DeviceArray<float> planes_;   // before pooling, or its gradient
  DeviceArray<std::uint8_t> winners_;
  DeviceArray<float> ones_;
};

}  // namespace

void DeviceWork::multiply(const Size& size, const Factor& left, const Factor& right,
                          float* product) const {
  const float one = 1;
  const float zero = 0;
  const auto way = [](const Factor& factor) {
    return factor.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  check(
      cublasSgemm_64(cublas_, way(left), way(right), size.rows, size.columns, size.inner, &one,
                     left.entries, left.rows, right.entries, right.rows, &zero, product, size.rows),
      "cublasSgemm", gpu_.site());
}

std::unique_ptr<DeviceLayer> make_device_dense(const DeviceWork& work, long batch, long inputs,
                                               long outputs, bool relu) {
  return std::make_unique<Dense>(work, batch, inputs, outputs, relu);
}

std::unique_ptr<DeviceLayer> make_device_conv(const DeviceWork& work, const ConvShape& shape) {
  return std::make_unique<Conv>(work, shape);
}

}  // namespace cohort
