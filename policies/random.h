// Counter-based random streams (Philox 4x32-10, [Salmon 2011], through Random123).
//
// A stream is named by (seed, purpose, entity, step) and a sub-number; its k-th value depends on
// nothing else, so every policy meets the same slowdowns and a value does not depend on who asks
// first. Bounded integers, shuffles and the continuous distributions are our own: the standard
// library's differ between vendors.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace cohort {

enum class Purpose : std::uint8_t {
  Slowdown,
  Jitter,
  Link,
  Tie,
  Policy,
  DataOrder,
  InitialParameters,
  Failure,
};

class Stream {
 public:
  // entity: worker, node or request; step: local step, switch or request number; sub: which model
  // of several, below 64.
  Stream(std::uint64_t seed, Purpose purpose, std::uint32_t entity, std::uint64_t step,
         std::uint32_t sub = 0)
      : key_(key(seed)), counter_(counter(purpose, entity, step, sub)) {}

  // What uniform() of a new stream gives, faster where nothing else is drawn from it.
  [[nodiscard, gnu::always_inline]] static double first_uniform(std::uint64_t seed, Purpose purpose,
                                                                std::uint32_t entity,
                                                                std::uint64_t step,
                                                                std::uint32_t sub = 0) {
    const Block block = r123::Philox4x32{}(counter(purpose, entity, step, sub), key(seed));
    return uniform(block[0] | (static_cast<std::uint64_t>(block[1]) << 32));
  }

  [[nodiscard]] std::uint32_t next_u32() {
    if (used_ == block_.size()) [[unlikely]]
      refill();
    return block_[used_++];
  }
  [[nodiscard]] std::uint64_t next_u64() {
    const std::uint64_t low = next_u32();
    return low | (static_cast<std::uint64_t>(next_u32()) << 32);
  }
  // Uniform on [0, 1), 53 bits.
  [[nodiscard]] double uniform() { return uniform(next_u64()); }
  // Uniform on (0, 1]: safe under a logarithm.
  [[nodiscard]] double uniform_positive() {
    return static_cast<double>((next_u64() >> 11) + 1) * 0x1.0p-53;
  }
  // Uniform on 0..bound-1 without bias ([Lemire 2019]); bound > 0.
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = static_cast<std::uint64_t>(next_u32()) * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t floor = (0U - bound) % bound;
      while (static_cast<std::uint32_t>(product) < floor)
        product = static_cast<std::uint64_t>(next_u32()) * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
  // Exponential of mean 1.
  [[nodiscard]] double exponential() { return -std::log(uniform_positive()); }
  // Standard normal ([Box Muller 1958], the cosine half).
  [[nodiscard]] double normal() {
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(6.283185307179586476925286766559 * uniform());
  }
  // Fisher-Yates.
  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  using Key = r123::Philox4x32::key_type;
  using Block = r123::Philox4x32::ctr_type;

  static Key key(std::uint64_t seed) {
    return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  }
  static Block counter(Purpose purpose, std::uint32_t entity, std::uint64_t step,
                       std::uint32_t sub) {
    return {{(static_cast<std::uint32_t>(purpose) << 28) | ((sub & 63U) << 22), entity,
             static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)}};
  }
  static double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

  [[gnu::noinline]] void refill() {
    block_ = r123::Philox4x32{}(counter_, key_);
    ++counter_[0];  // 22 bits of block number: 2^24 values a stream
    used_ = 0;
  }

  Key key_;
  Block counter_;
  Block block_{};
  unsigned used_ = block_.size();  // of block_
};

}  // namespace cohort
