#include "training/model.h"

#include "training/cnn.h"
#include "training/mlp.h"
#include "training/quadratic.h"

namespace cohort {
namespace {

template <typename T>
struct Make {
  ImageShape input;
  std::uint32_t classes;

  std::unique_ptr<Model<T>> operator()(const QuadraticOptions& options) const {
    return make_quadratic<T>(options);
  }
  std::unique_ptr<Model<T>> operator()(const SoftmaxOptions&) const {
    return make_mlp<T>(input.features(), {}, classes);
  }
  std::unique_ptr<Model<T>> operator()(const MlpOptions& options) const {
    return make_mlp<T>(input.features(), options.hidden, classes);
  }
  std::unique_ptr<Model<T>> operator()(const CnnOptions& options) const {
    return make_cnn<T>(options, input, classes);
  }
};

}  // namespace

template <typename T>
std::unique_ptr<Model<T>> make_model(const ModelOptions& options, ImageShape input,
                                     std::uint32_t classes) {
  return std::visit(Make<T>{input, classes}, options);
}

template std::unique_ptr<Model<float>> make_model(const ModelOptions&, ImageShape, std::uint32_t);
template std::unique_ptr<Model<double>> make_model(const ModelOptions&, ImageShape, std::uint32_t);

}  // namespace cohort
