// How a policy's averages and the local step go together (SEMANTICS 1): its options `order`, `what`
// and `average_momentum`, for a training in virtual time and for real alike.
#pragma once

#include <cstdint>

namespace cohort {

class Options;
struct SgdOptions;

enum class StepOrder : std::uint8_t { UpdateThenAverage, AverageThenUpdate };
enum class Averaged : std::uint8_t { Models, Gradients };

struct TrainingRules {
  StepOrder order = StepOrder::UpdateThenAverage;
  Averaged averaged = Averaged::Models;
  bool velocity = false;  // is averaged as the parameters are; never without momentum

  // `options` are resolved; one that the policy does not have is at its default.
  TrainingRules(const Options& options, const SgdOptions& sgd);
};

}  // namespace cohort
