// Multi-layer perceptron with ReLU between its dense layers and the softmax loss on top; without
// hidden layers: softmax regression.
#pragma once

#include <memory>
#include <span>

#include "training/model.h"

namespace cohort {

template <typename T>
[[nodiscard]] std::unique_ptr<Model<T>> make_mlp(std::size_t inputs,
                                                 std::span<const std::uint32_t> hidden,
                                                 std::uint32_t classes);

}  // namespace cohort
