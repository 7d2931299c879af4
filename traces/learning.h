// What a run with training learned: what a simulation and a real run both report.
//
// The model that counts is the mean of the replicas; under a parameter server the servers'. Losses
// are means over a fixed choice of training samples (training/training_plan.h), accuracies shares
// of right answers on the test set; null for models without classes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cohort {

// Of one model: the mean one, a replica.
struct Score {
  double loss = 0;
  std::optional<double> accuracy;
  bool operator==(const Score&) const = default;
};

struct LearningPoint {
  double seconds = 0;         // since the run's start
  std::uint64_t samples = 0;  // used so far by all workers together
  Score mean;
  std::optional<Score> worst;     // the replica with the largest loss; null: replicas not measured
  std::optional<Score> replica;   // worker 0's
  double consensus_distance = 0;  // root of the mean over replicas of |x_i - mean|^2
};

struct Learning {
  double learning_rate = 0;  // as used: the spec's, or tuned
  double momentum = 0;
  // From before the first step to the end, in order of time; the last one with all replicas.
  std::vector<LearningPoint> curve;
  std::vector<std::uint64_t> samples_per_worker;
  // Mean over all gradients used: how often the parameters that it was applied to had been changed
  // by others (averages, under a server other workers' updates) since it read them. Null: none
  // used.
  std::optional<double> effective_staleness;
};

// When the loss of the mean model first reaches `target`: linear in time between the two points
// around it. Null: not reached.
[[nodiscard]] std::optional<double> seconds_to_loss(std::span<const LearningPoint> curve,
                                                    double target);
// The same in samples used.
[[nodiscard]] std::optional<double> samples_to_loss(std::span<const LearningPoint> curve,
                                                    double target);

}  // namespace cohort
