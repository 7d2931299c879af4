// Convolution and pooling twice, then one dense layer under the softmax loss.
#pragma once

#include <memory>

#include "training/model.h"

namespace cohort {

// Throws InputError when two poolings leave nothing of the images.
template <typename T>
[[nodiscard]] std::unique_ptr<Model<T>> make_cnn(const CnnOptions& options, ImageShape input,
                                                 std::uint32_t classes);

}  // namespace cohort
