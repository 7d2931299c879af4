// Randomised division of the idle workers into groups, plain or inter-intra ([SEMANTICS 2]); the
// heart of `smart`.
//
// Plain: shuffle, cut into groups of `group_size`; a leftover of one joins the last group.
// Inter-intra: per node one random head; the heads together, or in random groups of
// `head_group_size`, and the non-heads of each node, are the inter phase; behind it everybody on a
// node is the intra phase. Time and random draws are proportional to the number of workers divided.
// With a vocabulary of V ([SEMANTICS 3]) V divisions of all workers are drawn once from the seed; a
// request picks one and keeps of each group the members that it divides. Allocates nothing once
// warm.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/group_buffer.h"
#include "policies/random.h"
#include "policies/topology.h"

namespace cohort {

class Division {
 public:
  struct Rules {
    bool inter_intra = false;
    std::uint32_t group_size = 4;                  // plain
    std::optional<std::uint32_t> head_group_size;  // inter-intra; none: all heads together
    std::optional<std::uint32_t> vocabulary;
  };

  Division(const Rules& rules, const Topology& topology, std::uint64_t seed);

  // Divides `chosen` (changes its order) and creates the groups in `buffer`, all of the first phase
  // before the second.
  void create(Stream& stream, std::span<WorkerId> chosen, GroupBuffer& buffer);

 private:
  void sort_by(std::span<const std::uint32_t> key, std::span<const WorkerId> chosen);
  template <typename Emit>
  void for_each_sorted(Emit&& emit) const;
  template <typename Emit>
  void first_phase(Stream& stream, std::span<WorkerId> chosen, Emit&& emit);
  template <typename Emit>
  void inter_phase(Stream& stream, Emit&& emit);
  void draw_vocabulary(std::uint64_t seed);

  Rules rules_;
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> words_;  // per word and worker: its group of the first phase

  std::vector<WorkerId> sorted_;        // by key, the keys in the order in which they were met
  std::vector<std::uint32_t> met_;      // keys
  std::vector<std::uint32_t> end_;      // of each met key in sorted_
  std::vector<std::uint32_t> counter_;  // by key; zero between calls
  std::vector<WorkerId> heads_;
};

}  // namespace cohort
