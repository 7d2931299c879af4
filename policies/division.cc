#include "policies/division.h"

#include <algorithm>

namespace cohort {
namespace {

// Passes `workers` on in groups of `size`, the last one larger by one or smaller.
template <typename Emit>
void cut(std::span<const WorkerId> workers, std::size_t size, Emit&& emit) {
  while (!workers.empty()) {
    auto taken = std::min(size, workers.size());
    if (size > 1 && workers.size() == taken + 1) ++taken;
    emit(workers.first(taken));
    workers = workers.subspan(taken);
  }
}

}  // namespace

Division::Division(const Rules& rules, const Topology& topology, std::uint64_t seed)
    : rules_(rules), node_of_(topology.workers()), counter_(topology.nodes()) {
  for (std::uint32_t w = 0; w < topology.workers(); ++w)
    node_of_[w] = topology.node_of(WorkerId{w});
  sorted_.resize(topology.workers());
  if (rules.vocabulary) draw_vocabulary(seed);
}

void Division::create(Stream& stream, std::span<WorkerId> chosen, GroupBuffer& buffer) {
  const auto append = [&buffer](std::span<const WorkerId> group) { buffer.create(group); };
  if (words_.empty()) {
    first_phase(stream, chosen, append);
  } else {
    const std::size_t workers = node_of_.size();
    const auto word = stream.below(*rules_.vocabulary);
    sort_by(std::span(words_).subspan(word * workers, workers), chosen);
    for_each_sorted(append);
    if (rules_.inter_intra) sort_by(node_of_, chosen);
  }
  if (rules_.inter_intra) for_each_sorted(append);
}

// Leaves `chosen` sorted by node when the rule is inter-intra.
template <typename Emit>
void Division::first_phase(Stream& stream, std::span<WorkerId> chosen, Emit&& emit) {
  if (rules_.inter_intra) {
    sort_by(node_of_, chosen);
    inter_phase(stream, emit);
  } else {
    stream.shuffle(chosen);
    cut(chosen, rules_.group_size, emit);
  }
}

// Moves each node's head to the front of its part of sorted_.
template <typename Emit>
void Division::inter_phase(Stream& stream, Emit&& emit) {
  heads_.clear();
  std::uint32_t begin = 0;
  for (const auto end : end_) {
    std::swap(sorted_[begin], sorted_[begin + stream.below(end - begin)]);
    heads_.push_back(sorted_[begin]);
    begin = end;
  }
  const auto size = rules_.head_group_size.value_or(static_cast<std::uint32_t>(heads_.size()));
  if (size < heads_.size()) stream.shuffle(std::span(heads_));
  cut(heads_, size, emit);
  for_each_sorted([&emit](std::span<const WorkerId> on_node) {
    if (on_node.size() > 1) emit(on_node.subspan(1));
  });
}

void Division::sort_by(std::span<const std::uint32_t> key, std::span<const WorkerId> chosen) {
  met_.clear();
  for (const auto worker : chosen)
    if (counter_[key[index(worker)]]++ == 0) met_.push_back(key[index(worker)]);
  std::uint32_t begin = 0;
  for (const auto met : met_) {
    const auto count = counter_[met];
    counter_[met] = begin;
    begin += count;
  }
  for (const auto worker : chosen) sorted_[counter_[key[index(worker)]]++] = worker;
  end_.clear();
  for (const auto met : met_) {
    end_.push_back(counter_[met]);
    counter_[met] = 0;
  }
}

template <typename Emit>
void Division::for_each_sorted(Emit&& emit) const {
  std::uint32_t begin = 0;
  for (const auto end : end_) {
    emit(std::span(sorted_).subspan(begin, end - begin));
    begin = end;
  }
}

void Division::draw_vocabulary(std::uint64_t seed) {
  const auto workers = static_cast<std::uint32_t>(node_of_.size());
  std::vector<WorkerId> all(workers);
  words_.resize(std::size_t{*rules_.vocabulary} * workers);
  std::uint32_t most_groups = 0;
  for (std::uint32_t word = 0; word < *rules_.vocabulary; ++word) {
    for (std::uint32_t w = 0; w < workers; ++w) all[w] = WorkerId{w};
    Stream stream(seed, Purpose::Policy, word, 0, 1);
    std::uint32_t groups = 0;
    first_phase(stream, all, [&](std::span<const WorkerId> group) {
      for (const auto member : group) words_[std::size_t{word} * workers + index(member)] = groups;
      ++groups;
    });
    most_groups = std::max(most_groups, groups);
  }
  counter_.resize(std::max<std::size_t>(counter_.size(), most_groups));
}

}  // namespace cohort
