// A data set that needs no files: images of normal noise, labelled by a teacher network drawn at
// random.
//
// Pixel: 127.5 + 42.5 z, rounded and cut to a byte. Label: the largest output of the teacher, W z
// or, with hidden units, U tanh(V z), all weights normal, scaled to unit variance of the outputs of
// each layer; then, with probability label_noise, another class, drawn uniformly. Sample i of each
// half depends on the set's seed and i alone, so a larger set begins with the smaller one.
//
// The teacher itself reaches an accuracy of 1 - label_noise, which no model exceeds in expectation.
// Softmax regression with a linear teacher, default sizes and no noise: above 0.93 after ten
// epochs.
#pragma once

#include "training/dataset.h"

namespace cohort {

[[nodiscard]] Dataset make_synthetic(const SyntheticOptions& options);

}  // namespace cohort
