#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

#include "policies/errors.h"
#include "runtime/mpi/mpi_transport.h"
#include "tests/runtime/mpi/under_mpi.h"

namespace cohort {
namespace {

using Values = std::vector<float>;
using Ranks = std::vector<std::uint32_t>;

constexpr std::array<std::uint32_t, 4> kAll{0, 1, 2, 3};

void finish(Request& request) {
  while (!request.test()) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

bool is_in(const Ranks& ranks, std::uint32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// Rank r gives r + 1 everywhere; what the members of `ranks` must get.
float sum_of(const Ranks& ranks) {
  return std::accumulate(ranks.begin(), ranks.end(), 0.0F,
                         [](float sum, std::uint32_t rank) { return sum + float(rank + 1); });
}

Values reduced(MpiTransport& transport, CommunicatorId id, const Ranks& ranks, std::size_t count) {
  const auto rank = mpi_job().rank();
  if (!is_in(ranks, rank)) return Values(count, sum_of(ranks));
  const Values given(count, static_cast<float>(rank + 1));
  Values sum(count);
  finish(*transport.create(id, ranks, {}));
  finish(*transport.all_reduce(id, given.data(), sum.data(), count));
  CHECK(given == Values(count, static_cast<float>(rank + 1)));
  return sum;
}

// All ways to call: waiting or polled, in one call or in pieces.
template <typename Check>
void with_each_transport(Check check) {
  for (const bool crowded : {false, true}) {
    for (const std::size_t longest_call : {std::size_t{1} << 30, std::size_t{1000}}) {
      CAPTURE(crowded);
      CAPTURE(longest_call);
      MpiTransport transport({.crowded = crowded, .longest_call = longest_call});
      transport.connect(kAll, {});
      check(transport);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

}  // namespace

TEST_CASE("mpi: an all-reduce sums over its members alone, and keeps what they gave") {
  with_each_transport([](MpiTransport& transport) {
    std::uint32_t id = 0;
    for (const auto& ranks : {Ranks{0, 1, 2, 3}, Ranks{0, 2}, Ranks{1, 2, 3}, Ranks{3, 0}}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{2500}, std::size_t{100'000}}) {
        const auto sum = reduced(transport, CommunicatorId{id++}, ranks, count);
        CHECK(sum == Values(count, sum_of(ranks)));
      }
    }
  });
}

TEST_CASE("mpi: an all-reduce in place") {
  with_each_transport([](MpiTransport& transport) {
    Values values(3000, static_cast<float>(mpi_job().rank() + 1));
    finish(*transport.create(CommunicatorId{1}, kAll, {}));
    finish(*transport.all_reduce(CommunicatorId{1}, values.data(), values.data(), values.size()));
    CHECK(values == Values(3000, 10));
  });
}

TEST_CASE("mpi: transfers of different synchronisations between the same ranks are told apart") {
  with_each_transport([](MpiTransport& transport) {
    const auto rank = mpi_job().rank();
    const auto peer = rank ^ 1U;
    std::array<Values, 2> given;
    std::array<Values, 2> got;
    std::array<std::unique_ptr<Request>, 2> requests;
    for (const std::size_t i : {rank % 2, 1 - rank % 2}) {  // in another order at the peer
      given[i].assign(2500, static_cast<float>(10 * i + rank));
      got[i].assign(2500, -1);
      const std::array<Transfer, 2> transfers{
          {{Transfer::Way::Send, peer, given[i].data(), 2500},
           {Transfer::Way::Receive, peer, got[i].data(), 2500}}};
      requests[i] = transport.exchange(SyncId{100 + i}, transfers);
    }
    for (auto& request : requests) finish(*request);
    for (const std::size_t i : {0, 1}) CHECK(got[i] == Values(2500, float(10 * i + peer)));
  });
}

TEST_CASE("mpi: synchronisation numbers beyond the largest tag") {
  MpiTransport transport({});
  transport.connect(kAll, {});
  float own = static_cast<float>(mpi_job().rank());
  float got = -1;
  const auto peer = mpi_job().rank() ^ 2U;
  const std::array<Transfer, 2> transfers{
      {{Transfer::Way::Send, peer, &own, 1}, {Transfer::Way::Receive, peer, &got, 1}}};
  finish(*transport.exchange(SyncId{1ULL << 40}, transfers));
  CHECK(got == static_cast<float>(peer));
}

TEST_CASE("mpi: transfers that were never taken do not reach the next run") {
  MpiTransport transport({});
  const auto rank = mpi_job().rank();
  std::array<float, 2> given{1, 2};
  float got = -1;
  for (const std::size_t run : {0, 1}) {
    transport.connect(kAll, {});
    const Transfer send{Transfer::Way::Send, 1, &given[run], 1};
    const Transfer receive{Transfer::Way::Receive, 0, &got, 1};
    if (rank == 0) finish(*transport.exchange(SyncId{5}, {&send, 1}));
    if (rank == 1 && run == 1) finish(*transport.exchange(SyncId{5}, {&receive, 1}));
  }
  if (rank == 1) CHECK(got == 2);
}

TEST_CASE("mpi: a receive that nobody answers can be given up") {
  MpiTransport transport({});
  transport.connect(kAll, {});
  float got = -1;
  const Transfer receive{Transfer::Way::Receive, mpi_job().rank() ^ 1U, &got, 1};
  auto request = transport.exchange(SyncId{6}, {&receive, 1});
  CHECK_FALSE(request->test());
  request.reset();
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(got == -1);
}

TEST_CASE("mpi: leaving a communicator does not wait for the other members") {
  MpiTransport transport({});
  transport.connect(kAll, {});
  static_cast<void>(transport.create(CommunicatorId{1}, kAll, {}));
  // Each leaves only after the one before it has: with a wait inside, nobody would.
  int token = 0;
  const int rank = static_cast<int>(mpi_job().rank());
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  transport.destroy(CommunicatorId{1});
  if (rank < 3) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_THROWS_AS(static_cast<void>(transport.communicator(CommunicatorId{1})), ContractError);
}

TEST_CASE("mpi: ranks that outnumber the cores are crowded, at every rank alike") {
  const int own = mpi_job().backend().transport().crowded() ? 1 : 0;
  int sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == 4 * own);
  if (std::thread::hardware_concurrency() < 4) CHECK(own == 1);
}

TEST_CASE("mpi: a polled all-reduce is a ring, as in the cost model") {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  int index = 0;
  REQUIRE(MPI_T_cvar_get_index("coll_libnbc_iallreduce_algorithm", &index) == MPI_SUCCESS);
  MPI_T_cvar_handle handle = nullptr;
  int count = 0;
  int algorithm = 0;
  MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
  MPI_T_cvar_read(handle, &algorithm);
  MPI_T_cvar_handle_free(&handle);
  MPI_T_finalize();
  CHECK(algorithm == 1);
}

TEST_CASE("mpi: hosts and a broadcast text are the same everywhere") {
  const std::string text = mpi_job().rank() == 0 ? std::string(100'000, 'x') + "end" : "";
  CHECK(mpi_job().broadcast(text) == std::string(100'000, 'x') + "end");
  const auto hosts = mpi_job().hosts();
  REQUIRE(hosts.size() == 4);
  CHECK(hosts[0] == hosts[3]);
}

}  // namespace cohort
