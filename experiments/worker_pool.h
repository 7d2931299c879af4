// Hands numbered pieces of work to threads, in order. The calling thread only waits, and reports at
// intervals.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>

namespace cohort {

struct PoolOptions {
  unsigned jobs = 1;
  const std::atomic<bool>* stop = nullptr;  // no new piece is begun once it is true; may be null
  std::function<void(std::size_t done)>
      tick;  // called by the calling thread, every interval and at the end
  std::chrono::milliseconds interval{100};
};

// Calls work(0), ..., work(count - 1), each once, from `jobs` threads. Returns how many have
// returned: fewer than `count` only when stopped. The first exception of a piece of work ends the
// others' and is thrown here.
std::size_t run_pool(std::size_t count, const std::function<void(std::size_t)>& work,
                     const PoolOptions& options);

}  // namespace cohort
