// Reads `measure` of a spec and `stop.loss`, which only mean something with training.
#pragma once

#include "experiments/cell.h"
#include "experiments/spec_node.h"

namespace cohort {

// A loss above 0, the floor of every model's.
[[nodiscard]] double read_loss(const SpecNode& node);

struct MeasureOfSpec {
  MeasureSpec measure;
  std::optional<TuneSpec> tune;
};

// Without a target of its own, stop.loss is the target; without candidates of its own, a tuned rate
// is the spec's; without a budget, it is that of the stop rule. Throws InputError with the JSON
// pointer of what is wrong.
[[nodiscard]] MeasureOfSpec read_measure(const std::optional<SpecNode>& node, const StopRule& stop,
                                         const SgdOptions& sgd, std::uint32_t workers);

}  // namespace cohort
