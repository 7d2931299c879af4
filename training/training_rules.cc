#include "training/training_rules.h"

#include <string>

#include "policies/options.h"
#include "training/training_spec.h"

namespace cohort {
namespace {

bool is(const Options& options, const std::string& name, const std::string& value) {
  return options.has(name) && options.get<std::string>(name) == value;
}

}  // namespace

TrainingRules::TrainingRules(const Options& options, const SgdOptions& sgd)
    : order(is(options, "order", "average_then_update") ? StepOrder::AverageThenUpdate
                                                        : StepOrder::UpdateThenAverage),
      averaged(is(options, "what", "gradients") ? Averaged::Gradients : Averaged::Models),
      velocity(sgd.momentum > 0 && options.has("average_momentum") &&
               options.get<bool>("average_momentum")) {}

}  // namespace cohort
