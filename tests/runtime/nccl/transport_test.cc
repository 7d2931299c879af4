#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/runtime/nccl/ranks.h"

namespace cohort {
namespace {

constexpr std::size_t kManyEntries = 100'000;  // several chunks of the stand-in

std::vector<std::uint32_t> everyone(std::uint32_t ranks) {
  std::vector<std::uint32_t> all(ranks);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

Buffer filled(VectorUnit& unit, float value) {
  Buffer buffer(unit, kManyEntries);
  unit.write(std::vector<float>(kManyEntries, value), buffer.entries());
  return buffer;
}

void require_all(VectorUnit& unit, const Buffer& buffer, float value) {
  std::vector<float> values(buffer.count());
  unit.read(buffer.entries(), values);
  const auto right = std::count(values.begin(), values.end(), value);
  require(right == static_cast<std::ptrdiff_t>(values.size()),
          std::to_string(values.size() - static_cast<std::size_t>(right)) + " wrong entries of " +
              std::to_string(values.size()));
}

// Sums 1 at each of `members` on communicator `id`.
void sum_ones(const Rank& rank, std::uint32_t id, std::size_t members) {
  const auto ones = filled(rank.vectors(), 1);
  const auto sum = filled(rank.vectors(), 0);
  auto request =
      rank.transport().all_reduce(CommunicatorId{id}, ones.entries(), sum.entries(), kManyEntries);
  finish(*request);
  require_all(rank.vectors(), sum, static_cast<float>(members));
  require_all(rank.vectors(), ones, 1);
}

}  // namespace

TEST_CASE("nccl transport: an all-reduce among 2 to 4 processes ends with the sum at each") {
  for (std::uint32_t ranks = 2; ranks <= 4; ++ranks) {
    CAPTURE(ranks);
    CHECK(run_ranks(ranks, [](const Rank& rank) {
            finish(*rank.create(1, 0, everyone(rank.ranks)));
            sum_ones(rank, 1, rank.ranks);
          }) == "");
  }
}

TEST_CASE("nccl transport: an all-reduce follows what is queued on the vectors before it") {
  CHECK(run_ranks(2, [](const Rank& rank) {
          finish(*rank.create(1, 0, {0, 1}));
          const auto ones = filled(rank.vectors(), 1);
          for (int i = 0; i < 10; ++i) rank.vectors().scale(2, ones.entries(), kManyEntries);
          finish(*rank.transport().all_reduce(CommunicatorId{1}, ones.entries(), ones.entries(),
                                              kManyEntries));
          require_all(rank.vectors(), ones, 2048);
        }) == "");
}

TEST_CASE("nccl transport: vectors go on while an all-reduce waits for a peer") {
  CHECK(run_ranks(2, [](const Rank& rank) {
          finish(*rank.create(1, 0, {0, 1}));
          const auto ones = filled(rank.vectors(), 1);
          if (rank.rank == 1) (void)rank.board.read(1);
          auto request = rank.transport().all_reduce(CommunicatorId{1}, ones.entries(),
                                                     ones.entries(), kManyEntries);
          if (rank.rank == 0) {
            require_all(rank.vectors(), filled(rank.vectors(), 5), 5);
            rank.board.write(1, {1});
          }
          finish(*request);
        }) == "");
}

TEST_CASE("nccl transport: a group needs nobody outside it and may list its members in any order") {
  CHECK(run_ranks(4, [](const Rank& rank) {
          if (rank.rank == 1) return;
          finish(*rank.create(1, 0, {3, 0, 2}));
          sum_ones(rank, 1, 3);
        }) == "");
}

TEST_CASE("nccl transport: many in one group, some of them slow, exchange values of their own") {
  CHECK(run_ranks(3, [](const Rank& rank) {
          rank.connect_all(0);
          const auto next = (rank.rank + 1) % 3;
          const auto last = (rank.rank + 2) % 3;
          const auto mine = filled(rank.vectors(), static_cast<float>(rank.rank + 1));
          const auto theirs = filled(rank.vectors(), 0);
          const std::vector<Transfer> transfers{
              {Transfer::Way::Send, next, mine.entries(), kManyEntries},
              {Transfer::Way::Receive, last, theirs.entries(), kManyEntries}};
          finish(*rank.transport().exchange(SyncId{1}, transfers));
          require_all(rank.vectors(), theirs, static_cast<float>(last + 1));
        }) == "");
}

TEST_CASE("nccl transport: pairs exchange while the others do something else") {
  CHECK(run_ranks(4, [](const Rank& rank) {
          rank.connect_all(0);
          const auto peer = rank.rank ^ 1;
          const auto mine = filled(rank.vectors(), static_cast<float>(rank.rank + 1));
          const auto theirs = filled(rank.vectors(), 0);
          for (std::uint64_t round = 0; round < (rank.rank < 2 ? 20 : 3); ++round) {
            const std::vector<Transfer> transfers{
                {Transfer::Way::Receive, peer, theirs.entries(), kManyEntries},
                {Transfer::Way::Send, peer, mine.entries(), kManyEntries}};
            finish(*rank.transport().exchange(SyncId{round}, transfers));
            require_all(rank.vectors(), theirs, static_cast<float>(peer + 1));
          }
        }) == "");
}

TEST_CASE("nccl transport: a run may connect anew") {
  CHECK(run_ranks(2, [](const Rank& rank) {
          rank.connect_all(0);
          rank.connect_all(1);
          const auto peer = 1 - rank.rank;
          const auto mine = filled(rank.vectors(), 1);
          const std::vector<Transfer> transfers{
              {rank.rank == 0 ? Transfer::Way::Send : Transfer::Way::Receive, peer, mine.entries(),
               kManyEntries}};
          finish(*rank.transport().exchange(SyncId{1}, transfers));
        }) == "");
}

TEST_CASE("nccl transport: a destroyed communicator may be made again under its id") {
  CHECK(run_ranks(2, [](const Rank& rank) {
          for (std::size_t place = 0; place < 20; ++place) {
            finish(*rank.create(1, place, {0, 1}));
            sum_ones(rank, 1, 2);
            rank.transport().destroy(CommunicatorId{1});
          }
        }) == "");
}

TEST_CASE("nccl transport: destroying waits for nobody") {
  CHECK(run_ranks(2, [](const Rank& rank) {
          finish(*rank.create(1, 0, {0, 1}));
          if (rank.rank == 0) {
            rank.transport().destroy(CommunicatorId{1});
            rank.board.write(1, {1});
          } else {
            (void)rank.board.read(1);
          }
        }) == "");
}

TEST_CASE("nccl transport: an id that is not there is a broken promise of the caller") {
  const auto complaints = run_ranks(1, [](const Rank& rank) {
    (void)rank.transport().all_reduce(CommunicatorId{9}, nullptr, nullptr, 0);
  });
  CHECK(complaints == "rank 0: no communicator 9\n");
}

}  // namespace cohort
