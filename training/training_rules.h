// How a policy's averages and the local step go together (SEMANTICS 1): its options `order`, `what`
// and `average_momentum`, for a training in virtual time and for real alike.
#pragma once

#include <cstdint>
#include <string>

#include "policies/options.h"
#include "training/training_spec.h"

namespace cohort {

enum class StepOrder : std::uint8_t { UpdateThenAverage, AverageThenUpdate };
enum class Averaged : std::uint8_t { Models, Gradients };

struct TrainingRules {
  StepOrder order = StepOrder::UpdateThenAverage;
  Averaged averaged = Averaged::Models;
  bool velocity = false;  // is averaged as the parameters are; never without momentum

  // `options` are resolved; one that the policy does not have is at its default.
  TrainingRules(const Options& options, const SgdOptions& sgd) {
    const auto is = [&options](const char* name, const char* value) {
      return options.has(name) && options.get<std::string>(name) == value;
    };
    if (is("order", "average_then_update")) order = StepOrder::AverageThenUpdate;
    if (is("what", "gradients")) averaged = Averaged::Gradients;
    velocity = sgd.momentum > 0 && options.has("average_momentum") &&
               options.get<bool>("average_momentum");
  }
};

}  // namespace cohort
