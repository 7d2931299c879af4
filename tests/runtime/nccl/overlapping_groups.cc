#include "tests/runtime/nccl/overlapping_groups.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "policies/random.h"

namespace cohort {
namespace {

using Members = std::vector<std::uint32_t>;
constexpr std::uint64_t kSeed = 20;
constexpr std::size_t kFewEntries = 16;

// Each rank with its neighbour, and with two of them.
std::vector<Members> groups_of(std::uint32_t ranks) {
  if (ranks == 2) return {{0, 1}};
  std::vector<Members> groups;
  for (std::uint32_t first = 0; first < ranks; ++first) {
    groups.push_back({first, (first + 1) % ranks});
    groups.push_back({first, (first + 1) % ranks, (first + 2) % ranks});
  }
  return groups;
}

bool holds(const Members& members, std::uint32_t rank) {
  return std::find(members.begin(), members.end(), rank) != members.end();
}

void delay(std::uint32_t rank, std::uint64_t turn) {
  Stream stream(kSeed, Purpose::Jitter, rank, turn);
  if (stream.uniform() < 0.2) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(500 * stream.uniform()));
  }
}

void mean_of(const Rank& rank, std::uint64_t turn, std::uint32_t id, std::size_t members) {
  const auto right = static_cast<float>(turn % 100);
  std::vector<float> values(kFewEntries, right);
  const Buffer buffer(rank.vectors(), kFewEntries);
  rank.vectors().write(values, buffer.entries());
  finish(*rank.transport().all_reduce(CommunicatorId{id}, buffer.entries(), buffer.entries(),
                                      kFewEntries));
  rank.vectors().scale(1.0 / static_cast<double>(members), buffer.entries(), kFewEntries);
  rank.vectors().read(buffer.entries(), values);
  for (const auto value : values) {
    require(std::abs(value - right) <= 1e-5F * right, "another group's values");
  }
}

}  // namespace

void run_overlapping_groups(const Rank& rank, std::uint64_t turns) {
  const auto groups = groups_of(rank.ranks);
  for (std::uint32_t id = 0; id < groups.size(); ++id) {
    if (holds(groups[id], rank.rank)) finish(*rank.create(id, id, groups[id]));
  }
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    Stream stream(kSeed, Purpose::Policy, 0, turn);
    const auto id = stream.below(static_cast<std::uint32_t>(groups.size()));
    if (!holds(groups[id], rank.rank)) continue;
    delay(rank.rank, turn);
    mean_of(rank, turn, static_cast<std::uint32_t>(id), groups[id].size());
  }
}

}  // namespace cohort
