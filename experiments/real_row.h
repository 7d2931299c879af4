// A real run's files and its row, from what was recorded: the same columns by the same rules as a
// simulation's (sim/statistics.h, sim/progress.h, sim/connectivity.h, SEMANTICS 1 and 6), with
// `measured_seconds` in place of `simulated_seconds`.
//
// A step is done when the next one begins. Differences of steps and connectivity count by the
// instants of the policy's answers, so that workers released together are never apart, as in the
// simulator. Bytes are those that the cluster model counts for the same synchronisations.
#pragma once

#include <string>

#include "runtime/run_record.h"
#include "runtime/run_setup.h"
#include "sim/scenario.h"
#include "sim/timeline.h"

namespace cohort {

// The scenario with its workers on other nodes: hosts of a real run. Values of nodes that the spec
// does not have are those of its first one.
[[nodiscard]] Scenario on_nodes(Scenario scenario, const std::vector<std::uint32_t>& gpus_per_node);

// What the group generator must know of a scenario. `verify` and `on_loss` are left as they are by
// default.
[[nodiscard]] RunSetup setup_of(const Scenario& scenario);

// `record` is of a run of `scenario` that did not fail.
[[nodiscard]] ResultRow real_row(const Scenario& scenario, const RunRecord& record);

// Per worker and step, in seconds: drawn work (`seconds`, so that a simulation can replay it), the
// measured compute time (`stretched_seconds`), and where the rest of the step went;
// communicator_seconds are part of coordinate_seconds; trip_seconds are those that the ready took
// to the group generator. read_compute_trace() reads it when all workers have the same number of
// steps.
[[nodiscard]] std::string steps_csv(const RunRecord& record, std::uint32_t workers);

[[nodiscard]] Timeline real_timeline(const RunRecord& record, std::uint32_t workers);

}  // namespace cohort
