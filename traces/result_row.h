// One row of results: one cell, policy and seed. What a simulation and a real run both report.
//
// Fractions are shares of live worker time inside the throughput window (t0, t1] and sum to 1
// (SEMANTICS 1 and 6): compute, wait, sync, coordinate. worker_steps, synchronisations, bytes,
// max_step_skew and seconds are of the whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "traces/learning.h"

namespace cohort {

struct ResultRow {
  std::string policy;  // kind
  std::string label;   // unique in its spec
  std::uint64_t seed = 0;
  std::uint32_t workers = 0;
  std::uint64_t worker_steps = 0;
  double elapsed_seconds = 0;  // `simulated_seconds` or `measured_seconds`
  std::optional<double> throughput_steps_per_second;
  double compute_fraction = 0;
  double wait_fraction = 0;
  double sync_fraction = 0;
  double coordinate_fraction = 0;
  std::uint64_t synchronisations = 0;  // done, with at least two members (servers count)
  double inter_node_bytes = 0;         // counted once, at the sender
  double intra_node_bytes = 0;
  std::uint64_t max_step_skew = 0;  // largest difference of steps done between live workers
  std::uint64_t conflicts =
      0;  // synchronisations that waited for another one of a member after all had reported ready
  std::optional<std::uint64_t> communicators_created;  // null: their set-up is not modelled
  // `smart`: whether it divides in two phases; null: other policies.
  std::optional<bool> inter_intra;
  std::string dominant_term;  // compute, bandwidth, latency, coordination or wait: the largest
                              // share of worker time
  bool whole_run_window =
      false;  // the window was empty, so throughput and fractions are of the whole run
  std::optional<bool> connected;     // union graph of the groups connected over every window of 50
                                     // steps; null: run too short
  std::optional<Learning> learning;  // of runs with training
};

}  // namespace cohort
