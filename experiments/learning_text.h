// What a run with training adds to its result row: columns, and in JSON alone the learning curve
// and each worker's samples. Null: not reached, not known.
//
//   learning_rate, momentum                as used
//   final_loss, final_accuracy             of the mean model at the end
//   worst_loss, worst_accuracy             of the replica with the largest loss at the end
//   replica_loss, replica_accuracy         of worker 0's
//   time_to_loss_seconds, samples_to_loss  when the mean model first reaches the target
//   consensus_distance                     at the end
//   effective_staleness                    see traces/learning.h
//   samples, slowest_worker_samples        used by all workers together, by the one with fewest
//   samples_per_worker                     list (JSON)
//   curve                                  lists of equal length (JSON): seconds, samples, loss,
//                                          consensus_distance; accuracy, where there are classes;
//                                          worst_* and replica_*, where every point has them
#pragma once

#include <optional>

#include "experiments/row_text.h"
#include "traces/learning.h"

namespace cohort {

// Behind the columns that are there. A default Learning gives the columns alone, all null.
void add_learning(OrderedJson& row, const Learning& learning, std::optional<double> target_loss);

// The candidates of measure.tune, as the column `tuning` (JSON): learning_rate, momentum, and of
// its longest run worker_steps, loss (null: it diverged), samples, time_to_loss_seconds.
[[nodiscard]] OrderedJson tuning_json(const Tuning& tuning);

// The error of a row whose candidates all diverged.
[[nodiscard]] std::string why_nothing(const Tuning& tuning);

}  // namespace cohort
