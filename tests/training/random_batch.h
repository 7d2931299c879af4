// Batches and parameters of numbers drawn at random, for tests of models.
#pragma once

#include <cstdint>
#include <vector>

#include "policies/random.h"
#include "training/model.h"

namespace cohort::test {

template <typename T>
Batch<T> random_batch(std::size_t size, ImageShape shape, std::uint32_t classes,
                      std::uint64_t seed = 1) {
  Batch<T> batch{.size = size, .seed = seed};
  Stream random(seed, Purpose::Failure, 0, 0);
  for (std::size_t i = 0; i < size * shape.features(); ++i)
    batch.inputs.push_back(static_cast<T>(random.normal()));
  for (std::size_t i = 0; i < size; ++i)
    batch.labels.push_back(static_cast<std::uint8_t>(random.below(classes)));
  return batch;
}

template <typename T>
std::vector<T> initial_parameters(const Model<T>& model, std::uint64_t seed = 1) {
  std::vector<T> parameters(model.parameters());
  model.initialise(seed, parameters);
  return parameters;
}

}  // namespace cohort::test
