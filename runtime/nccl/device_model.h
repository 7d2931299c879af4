// Models in the memory of a GPU (runtime/model_unit.h): softmax regression, MLP and CNN as layers,
// and `quadratic`. Data go there once; a step sends the numbers of its samples and gets the losses
// back, which is also how it waits.
//
// A stream and a cuBLAS handle of its own: gradients are computed side by side with averages.
#pragma once

#include <memory>

#include "runtime/model_unit.h"
#include "runtime/nccl/device_vectors.h"
#include "training/dataset.h"
#include "training/training_spec.h"

namespace cohort {

// `others`: the stream of the parameters. It and `gpu` outlive the result. Throws EnvironmentError,
// also when this build has no kernels.
[[nodiscard]] std::unique_ptr<ModelUnit> make_device_model(const Gpu& gpu, const GpuStream& others,
                                                           const TrainingSpec& spec,
                                                           const Dataset& dataset);

}  // namespace cohort
