// Keys that order the events of one instant at random, but reproducibly: one stream per run, in the
// order in which a worker's step or a synchronisation asks.
#pragma once

#include <cstdint>

#include "policies/random.h"

namespace cohort {

class TieKeys {
 public:
  explicit TieKeys(std::uint64_t seed) : seed_(seed), stream_(seed, Purpose::Tie, 0, 0) {}

  [[nodiscard]] std::uint32_t next() {
    if (++used_ == kPerStream) next_stream();
    return stream_.next_u32();
  }

 private:
  static constexpr std::uint32_t kPerStream = 1U << 20;

  [[gnu::noinline]] void next_stream() {
    used_ = 0;
    stream_ = Stream(seed_, Purpose::Tie, 0, ++number_);
  }

  std::uint64_t seed_;
  std::uint64_t number_ = 0;
  std::uint32_t used_ = 0;
  Stream stream_;
};

}  // namespace cohort
