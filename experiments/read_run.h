// Reads `run` of a spec: how a real run starts and what it does on a loss; and says which cells can
// be run for real. Nothing of it changes a simulation.
#pragma once

#include <string>

#include "experiments/run_spec.h"
#include "experiments/spec_node.h"

namespace cohort {

struct Cell;

// Throws InputError with the JSON pointer of what is wrong.
[[nodiscard]] RunSpec read_run(const SpecNode& node);

// Throws InputError, its `where` a JSON pointer, when the cell holds what only a simulation can do:
// an overlapped all-reduce, slow links, a transport of another speed, a payload that a real run
// cannot hold, an end at a loss.
void check_runnable(const Cell& cell);

}  // namespace cohort
