// Asks the processor to bring a cache line near before it is needed. A large cluster does not fit
// into the caches, and its events meet workers in random order. Changes nothing that can be seen.
#pragma once

namespace cohort {

inline void prefetch(const void* address) {
  __builtin_prefetch(address);
  // Without it gcc takes a function that only prefetches for one without effect and drops its
  // calls.
  asm volatile("");
}

}  // namespace cohort
