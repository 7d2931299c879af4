// Reads `workload.training` of a spec into plain values, and loads its data.
#pragma once

#include "experiments/cell.h"
#include "experiments/spec_files.h"
#include "experiments/spec_node.h"

namespace cohort {

// A plan with the default measures. `workers` share the samples out. Throws InputError with the
// JSON pointer of what is wrong, the content of files included; EnvironmentError when Fashion-MNIST
// is not installed.
[[nodiscard]] CellTraining read_training(const SpecNode& node, std::uint32_t workers,
                                         SpecFiles& files);

}  // namespace cohort
