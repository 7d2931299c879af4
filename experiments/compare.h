// Predicted against measured: the rows of a simulation and of a real run of the same cells, labels
// and seeds, side by side.
//
// The time of a worker-step is workers / throughput; a phase's share of it is that fraction. Two
// predictions: `plain`, as simulated; and `predicted`, in which the recorded coordination stands in
// place of the simulated one (SEMANTICS 2: a real run hosts all policies in the group generator,
// also those whose decisions are made at the workers and cost nothing in a simulation):
//   step time predicted = step time plain - coordinate simulated + coordinate recorded
// A simulation with `cluster.coordination_hosted` has simulated that: predicted is plain there.
// Errors are predicted / measured - 1, of means over seeds; intervals are 95 %, over seeds
// (Student's t). A pair of policies of one cell is ranked right when the prediction orders them as
// the measurement does; judged are pairs whose measured intervals do not overlap.
//
// A row's partner has the same settings of the sweep, label, seed and number of workers. What else
// the specs say of the work, their manifests tell; clusters may be two descriptions of one machine.
//
// Where both rows have a time to the target loss, those are compared too, as simulated.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/spec_json.h"

namespace cohort {

struct Estimate {
  double mean = 0;
  std::optional<double> half_width;  // of the 95 % interval; none with one seed
};

inline constexpr std::array<const char*, 4> kPhases{"compute", "wait", "sync", "coordinate"};
using PhaseSeconds = std::array<double, 4>;  // per worker-step, mean over seeds

struct ComparedTimeToLoss {
  std::vector<std::uint64_t> seeds;  // that reached it in both
  Estimate measured;                 // seconds
  Estimate simulated;

  [[nodiscard]] double error() const { return simulated.mean / measured.mean - 1; }
};

struct ComparedPolicy {
  Json cell;  // the settings, by pointer
  std::string policy;
  std::string label;
  std::vector<std::uint64_t> seeds;  // in both
  Estimate measured;                 // worker-steps per second, as all throughputs
  Estimate predicted;
  Estimate plain;
  PhaseSeconds measured_phases{};
  PhaseSeconds plain_phases{};
  std::optional<ComparedTimeToLoss> to_loss;

  [[nodiscard]] double error() const { return predicted.mean / measured.mean - 1; }
  [[nodiscard]] double plain_error() const { return plain.mean / measured.mean - 1; }
};

struct Comparison {
  bool hosted = false;                   // the simulation had the group generator host all policies
  std::vector<ComparedPolicy> policies;  // in the order of the measured rows; at least one
  // In which the two specs ask for other work, so that one says little of the other: a line each.
  std::vector<std::string> differences;
  // Rows without a partner, a result, or a window where the partner has one: which and why.
  std::vector<std::string> left_out;
  double median_error = 0;  // of the absolute values
  double worst_error = 0;
  double median_plain_error = 0;
  double worst_plain_error = 0;
  std::size_t judged_pairs = 0;
  std::size_t right_pairs = 0;
};

// Two result directories. Throws InputError when one holds no results, or those of the other kind,
// or no row of one has a partner in the other.
[[nodiscard]] Comparison compare_results(const std::filesystem::path& simulated,
                                         const std::filesystem::path& real);

}  // namespace cohort
