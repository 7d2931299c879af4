#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "policies/random.h"
#include "tests/runtime/nccl/ranks.h"

namespace cohort {
namespace {

using Members = std::vector<std::uint32_t>;
const std::vector<Members> kGroups{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1, 2}, {1, 2, 3}, {0, 3, 2}};
constexpr std::uint64_t kSeed = 20;

bool holds(const Members& members, std::uint32_t rank) {
  return std::find(members.begin(), members.end(), rank) != members.end();
}

// The group generator's order of starts, the same at every rank.
const Members& group_of(std::uint64_t turn) {
  Stream stream(kSeed, Purpose::Policy, 0, turn);
  return kGroups[static_cast<std::size_t>(stream.uniform() * static_cast<double>(kGroups.size()))];
}

void delay(std::uint32_t rank, std::uint64_t turn) {
  Stream stream(kSeed, Purpose::Jitter, rank, turn);
  if (stream.uniform() < 0.2) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(500 * stream.uniform()));
  }
}

void mean_of(const Rank& rank, std::uint64_t turn, const Members& members) {
  const auto id = static_cast<std::uint32_t>(&members - kGroups.data());
  constexpr std::size_t kEntries = 16;
  std::vector<float> values(kEntries, static_cast<float>(turn % 100));
  const Buffer buffer(rank.vectors(), kEntries);
  rank.vectors().write(values, buffer.entries());
  finish(*rank.transport().all_reduce(CommunicatorId{id}, buffer.entries(), buffer.entries(),
                                      kEntries));
  rank.vectors().scale(1.0 / static_cast<double>(members.size()), buffer.entries(), kEntries);
  rank.vectors().read(buffer.entries(), values);
  for (const auto value : values) {
    require(value == doctest::Approx(static_cast<double>(turn % 100)), "another group's values");
  }
}

}  // namespace

TEST_CASE("nccl transport: 1,000 random overlapping groups with random delays never stall") {
  const auto complaints = run_ranks(4, [](const Rank& rank) {
    for (std::uint32_t id = 0; id < kGroups.size(); ++id) {
      if (holds(kGroups[id], rank.rank)) finish(*rank.create(id, id, kGroups[id]));
    }
    for (std::uint64_t turn = 0; turn < 1000; ++turn) {
      const auto& members = group_of(turn);
      if (!holds(members, rank.rank)) continue;
      delay(rank.rank, turn);
      mean_of(rank, turn, members);
    }
  });
  CHECK(complaints == "");
}

}  // namespace cohort
