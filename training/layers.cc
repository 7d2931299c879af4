#include "training/layers.h"

#include <Eigen/Core>
#include <cmath>

namespace cohort {
namespace {

template <typename T>
using Column = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using ConstColumn = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

}  // namespace

template <typename T>
void DenseLayer<T>::forward(const T* parameters, const T* x, long batch, T* y) const {
  products<T>().left_transposed({outputs, batch, inputs}, parameters, x, y, Into::Overwrite);
  const ConstColumn<T> bias(parameters + outputs * inputs, outputs);
  for (long sample = 0; sample < batch; ++sample) Column<T>(y + sample * outputs, outputs) += bias;
}

template <typename T>
void DenseLayer<T>::backward(const T* x, const T* dy, long batch, T* gradient) const {
  products<T>().right_transposed({inputs, outputs, batch}, x, dy, gradient, Into::Overwrite);
  Column<T> bias(gradient + outputs * inputs, outputs);
  bias.setZero();
  for (long sample = 0; sample < batch; ++sample)
    bias += ConstColumn<T>(dy + sample * outputs, outputs);
}

template <typename T>
void DenseLayer<T>::backward_input(const T* parameters, const T* dy, long batch, T* dx) const {
  products<T>().plain({inputs, batch, outputs}, parameters, dy, dx, Into::Overwrite);
}

template <typename T>
void initialise_layer(std::uint64_t seed, std::uint32_t layer, long inputs,
                      std::span<T> parameters) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  const auto columns = static_cast<std::size_t>(inputs);
  const auto outputs = parameters.size() / (columns + 1);
  for (std::size_t o = 0; o < outputs; ++o) {
    Stream stream(seed, Purpose::InitialParameters, layer, o);
    const auto draw = [&] { return static_cast<T>(bound * (2 * stream.uniform() - 1)); };
    for (auto& weight : parameters.subspan(o * columns, columns)) weight = draw();
    parameters[outputs * columns + o] = draw();
  }
}

template <typename T>
void relu(T* y, long count) {
  for (long i = 0; i < count; ++i) y[i] = y[i] < 0 ? T{0} : y[i];
}

template <typename T>
void relu_backward(const T* y, T* dy, long count) {
  for (long i = 0; i < count; ++i) dy[i] = y[i] == 0 ? T{0} : dy[i];
}

template <typename T>
Evaluation softmax_loss(T* logits, long classes, const Batch<T>& batch, bool gradient) {
  Evaluation all{.samples = batch.size};
  for (std::size_t sample = 0; sample < batch.size; ++sample) {
    Column<T> column(logits + static_cast<long>(sample) * classes, classes);
    const long label = batch.labels[sample];
    long likeliest = 0;
    const T largest = column.template maxCoeff<Eigen::PropagateNaN>(&likeliest);
    const T of_label = column[label] - largest;
    column = (column - largest).exp();
    const T sum = column.sum();
    all.loss_sum += std::log(static_cast<double>(sum)) - static_cast<double>(of_label);
    all.correct += likeliest == label ? 1 : 0;
    if (!gradient) continue;
    column *= 1 / (sum * static_cast<T>(batch.size));
    column[label] -= 1 / static_cast<T>(batch.size);
  }
  return all;
}

template struct DenseLayer<float>;
template struct DenseLayer<double>;
template void initialise_layer(std::uint64_t, std::uint32_t, long, std::span<float>);
template void initialise_layer(std::uint64_t, std::uint32_t, long, std::span<double>);
template void relu(float*, long);
template void relu(double*, long);
template void relu_backward(const float*, float*, long);
template void relu_backward(const double*, double*, long);
template Evaluation softmax_loss(float*, long, const Batch<float>&, bool);
template Evaluation softmax_loss(double*, long, const Batch<double>&, bool);

}  // namespace cohort
