// Refuses what cannot fit into the machine's memory before any of it is asked for.
#pragma once

namespace cohort {

// Throws InputError ("/workload/training") that says how much is needed and what there is, when
// `bytes` is more than the machine's physical memory.
void require_memory(double bytes);

}  // namespace cohort
