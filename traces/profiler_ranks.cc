#include "traces/profiler_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "policies/errors.h"
#include "traces/renumbering.h"

namespace cohort {
namespace {

// Ascending by rank, each once.
void order(std::vector<ProfilerTrace>& ranks) {
  for (const ProfilerTrace& trace : ranks) {
    if (trace.rank || ranks.size() == 1) continue;
    throw InputError(trace.file,
                     "has no distributedInfo with a rank; expected one where several files are "
                     "read, one per rank");
  }
  std::ranges::stable_sort(ranks, {}, &ProfilerTrace::rank);
  const auto twice =
      std::ranges::adjacent_find(ranks, std::ranges::equal_to{}, &ProfilerTrace::rank);
  if (twice == ranks.end()) return;
  throw InputError(std::next(twice)->file,
                   fmt::format("is of rank {}, and so is {}; expected each rank once", *twice->rank,
                               twice->file));
}

// The numbers that every rank has, ascending.
std::vector<std::uint64_t> common_steps(const std::vector<ProfilerTrace>& ranks) {
  std::vector<std::uint64_t> common;
  for (const ProfilerStep& step : ranks.front().steps) common.push_back(step.number);
  for (const ProfilerTrace& trace : ranks) {
    std::erase_if(common, [&trace](std::uint64_t number) {
      return !std::ranges::binary_search(trace.steps, number, {}, &ProfilerStep::number);
    });
  }
  return common;
}

}  // namespace

Recording recording_of(std::vector<ProfilerTrace> ranks) {
  if (ranks.empty()) throw ContractError("a recording is of one rank at least");
  order(ranks);
  const std::vector<std::uint64_t> common = common_steps(ranks);
  if (common.empty()) {
    throw InputError(
        ranks.front().file,
        fmt::format("has no step in common with all of the {} other files", ranks.size() - 1));
  }
  Renumbering workers;
  Renumbering steps;
  for (const std::uint64_t number : common) steps.add(number);
  std::vector<Time> times;
  std::size_t recorded = 0;
  for (const ProfilerTrace& trace : ranks) {
    workers.add(trace.rank.value_or(0));
    recorded += trace.steps.size();
    for (const ProfilerStep& step : trace.steps) {
      if (std::ranges::binary_search(common, step.number)) times.push_back(step.time);
    }
  }
  Recording recording{
      ComputeTrace(static_cast<std::uint32_t>(ranks.size()), common.size(), std::move(times)),
      1,
      {}};
  const auto note = [&recording](std::optional<std::string> text) {
    if (text) recording.notes.push_back(std::move(*text));
  };
  note(steps.note("steps"));
  note(workers.note("ranks"));
  if (const std::size_t left_out = recorded - common.size() * ranks.size(); left_out > 0) {
    note(fmt::format("{} steps that not all {} ranks have were left out", left_out, ranks.size()));
  }
  note(
      "a profiler's step is a whole one: communication and waiting for others are in it, so the "
      "workers look more alike than their computing is");
  return recording;
}

}  // namespace cohort
