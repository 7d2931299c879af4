#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "tests/runtime/mpi/plain_member.h"
#include "tests/skip.h"

namespace cohort {
namespace {

constexpr std::uint32_t kRanks = 8;
constexpr int kRounds = 1000;
constexpr std::size_t kEntries = 256;
// A communicator takes some ten kilobytes: one leaked in each round would be ten megabytes.
constexpr std::size_t kSlack = 4U << 20;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeepsFreedMemory = true;
#else
constexpr bool kKeepsFreedMemory = false;
#endif

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// The circle method: in each of seven matchings every one of eight ranks is in one pair.
std::uint32_t partner_of(std::uint32_t rank, std::uint32_t matching) {
  constexpr auto kOthers = kRanks - 1;
  if (rank == kOthers) return matching * 4 % kOthers;
  const auto partner = (matching + kOthers - rank) % kOthers;
  return partner == rank ? kOthers : partner;
}

// Said once, not by every rank.
void leave_out() {
  if (mpi_job().rank() == 0) skip("AddressSanitizer keeps freed memory back; ./check runs it");
}

using Pair = std::vector<std::uint32_t>;

Pair pair_of(std::uint32_t rank, std::uint32_t matching) {
  const auto partner = partner_of(rank, matching);
  return {std::min(rank, partner), std::max(rank, partner)};
}

CommunicatorId communicator_of(const Pair& pair) {
  return CommunicatorId{pair[0] * kRanks + pair[1]};
}

}  // namespace

TEST_CASE("mpi: memory is flat after every pair of eight ranks has met once") {
  if (kKeepsFreedMemory) return leave_out();
  const auto own = mpi_job().rank();
  PlainMember member(kEntries);
  std::size_t after_first = 0;
  std::uint64_t sync = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (std::uint32_t matching = 0; matching + 1 < kRanks; ++matching) {
      const auto pair = pair_of(own, matching);
      member.carry_out(PlainMember::mean_of(pair, ++sync, communicator_of(pair), round == 0));
    }
    if (round == 0) after_first = resident_bytes();
  }
  CHECK(member.done == 7 * kRounds);
  CHECK(resident_bytes() < after_first + kSlack);
}

TEST_CASE("mpi: communicators that are left and made again take no more memory") {
  if (kKeepsFreedMemory) return leave_out();
  const auto own = mpi_job().rank();
  auto& transport = mpi_job().backend().transport();
  transport.connect(std::array<std::uint32_t, kRanks>{0, 1, 2, 3, 4, 5, 6, 7}, {});
  const auto meet_all = [&] {
    for (std::uint32_t matching = 0; matching + 1 < kRanks; ++matching) {
      const auto pair = pair_of(own, matching);
      static_cast<void>(transport.create(communicator_of(pair), pair, {}));
      transport.destroy(communicator_of(pair));
    }
  };
  for (int round = 0; round < 20; ++round) meet_all();
  const auto before = resident_bytes();
  for (int round = 0; round < 100; ++round) meet_all();
  CHECK(resident_bytes() < before + kSlack);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace cohort
