#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "tests/runtime/nccl/ranks.h"

namespace cohort {
namespace {

constexpr std::size_t kEntries = 1000;

std::unique_ptr<Request> sum(const Rank& rank, std::uint32_t id, const Buffer& buffer) {
  return rank.transport().all_reduce(CommunicatorId{id}, buffer.entries(), buffer.entries(),
                                     kEntries);
}

void require_text(const std::string& text, const std::string& part) {
  require(text.find(part) != std::string::npos, "'" + text + "' lacks '" + part + "'");
}

Environment failing(const std::string& fault) { return {{"COHORT_STAND_IN_FAIL", fault}}; }

}  // namespace

TEST_CASE("nccl losses: an asynchronous error fails the synchronisation and names all about it") {
  const auto complaints = run_ranks(
      2,
      [](const Rank& rank) {
        finish(*rank.create(7, 0, {0, 1}));
        const Buffer buffer(rank.vectors(), kEntries);
        auto request = sum(rank, 7, buffer);
        if (rank.rank == 1) return;  // lets go of the request, which aborts
        const auto text = failure_of(*request);
        require_text(text, "communicator 7 of ranks 0, 1: ");
        require_text(text, "rank 0, GPU 0000:00:00.0");
        require_text(text, "remote process exited");
      },
      failing("0:ncclAllReduce:1:async"));
  CHECK(complaints == "");
}

TEST_CASE("nccl losses: a call that fails at once fails the synchronisation") {
  const auto complaints = run_ranks(
      2,
      [](const Rank& rank) {
        finish(*rank.create(7, 0, {0, 1}));
        const Buffer buffer(rank.vectors(), kEntries);
        if (rank.rank == 1) return;
        try {
          (void)sum(rank, 7, buffer);
        } catch (const SyncFailure& failure) {
          return require_text(failure.what(), "all-reduce on communicator 7 of ranks 0, 1: ");
        }
        require(false, "no failure");
      },
      failing("0:ncclAllReduce:1:error"));
  CHECK(complaints == "");
}

TEST_CASE("nccl losses: after an abort the communicator refuses, and one made anew works") {
  const auto complaints = run_ranks(
      2,
      [](const Rank& rank) {
        finish(*rank.create(1, 0, {0, 1}));
        const Buffer buffer(rank.vectors(), kEntries);
        if (auto request = sum(rank, 1, buffer); rank.rank == 0) (void)failure_of(*request);
        try {
          (void)sum(rank, 1, buffer);
          require(false, "no failure");
        } catch (const SyncFailure& failure) {
          require_text(failure.what(), "was aborted after an earlier failure");
        }
        rank.transport().destroy(CommunicatorId{1});
        finish(*rank.create(2, 1, {0, 1}));
        finish(*sum(rank, 2, buffer));
      },
      failing("0:ncclAllReduce:1:async"));
  CHECK(complaints == "");
}

TEST_CASE("nccl losses: a request for a peer that never comes ends when it is let go") {
  const auto complaints = run_ranks(2, [](const Rank& rank) {
    finish(*rank.create(1, 0, {0, 1}));
    const Buffer buffer(rank.vectors(), kEntries);
    if (rank.rank == 1) return (void)rank.board.read(1);
    auto request = sum(rank, 1, buffer);
    for (int i = 0; i < 10; ++i) require(!request->test(), "over without the peer");
    request.reset();
    std::vector<float> values(kEntries);
    rank.vectors().read(buffer.entries(), values);
    rank.board.write(1, {1});
  });
  CHECK(complaints == "");
}

TEST_CASE("nccl losses: the survivor of a rank that dies inside an all-reduce goes on after it") {
  const auto complaints = run_ranks(
      3,
      [](const Rank& rank) {
        finish(*rank.create(1, 0, {0, 1, 2}));
        const Buffer buffer(rank.vectors(), kEntries);
        auto request = sum(rank, 1, buffer);
        if (rank.rank == 2) finish(*request);
        for (int i = 0; i < 10; ++i) require(!request->test(), "over without the dead");
        request.reset();
        rank.transport().destroy(CommunicatorId{1});
        finish(*rank.create(2, 1, {0, 1}));
        finish(*sum(rank, 2, buffer));
      },
      failing("2:ncclAllReduce:1:die"));
  CHECK(complaints == "rank 2: ended by signal 9\n");
}

TEST_CASE("nccl losses: a communicator whose members do not all come is given up when let go") {
  const auto complaints = run_ranks(2, [](const Rank& rank) {
    if (rank.rank == 1) return;
    auto request = rank.create(1, 0, {0, 1});
    for (int i = 0; i < 10; ++i) require(!request->test(), "stands without the other");
  });
  CHECK(complaints == "");
}

TEST_CASE("nccl losses: an exchange whose library fails takes the run's paths along, by name") {
  const auto complaints = run_ranks(
      2,
      [](const Rank& rank) {
        rank.connect_all(0);
        const Buffer buffer(rank.vectors(), kEntries);
        if (rank.rank == 1) return;
        const std::vector<Transfer> transfers{{Transfer::Way::Send, 1, buffer.entries(), kEntries}};
        auto request = rank.transport().exchange(SyncId{5}, transfers);
        require_text(failure_of(*request), "the run's communicator of ranks 0, 1: ");
      },
      failing("0:ncclGroupEnd:1:async"));
  CHECK(complaints == "");
}

}  // namespace cohort
