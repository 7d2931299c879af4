// Refuses what cannot fit into the machine's memory before any of it is asked for.
#pragma once

#include <string>

namespace cohort {

// Who asks for memory, in the words of the error.
struct MemoryUse {
  std::string where;    // in the spec
  std::string what;     // plural
  std::string allowed;  // what would fit
};

// Throws InputError that says how much is needed and what there is, when `bytes` is more than the
// machine's physical memory.
void require_memory(double bytes, const MemoryUse& use);

// For the replicas of a training run, at "/workload/training".
void require_memory(double bytes);

}  // namespace cohort
