#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "policies/random.h"
#include "tests/runtime/mpi/plain_member.h"

namespace cohort {
namespace {

using Group = std::vector<std::uint32_t>;

// Waiting ranks take turns on few cores, which a busy machine makes slow: the whole number is
// COHORT_TEST_GROUPS=100000.
constexpr std::uint64_t kGroups = 20'000;

std::uint64_t groups_wanted() {
  const char* given = std::getenv("COHORT_TEST_GROUPS");
  return given == nullptr ? kGroups : std::strtoull(given, nullptr, 10);
}

// The random group of two to four of the four workers that has this number; drawn alike everywhere.
Group group_of(std::uint64_t number) {
  Stream stream(3, Purpose::Policy, 0, number);
  Group workers{0, 1, 2, 3};
  stream.shuffle(std::span(workers));
  workers.resize(2 + stream.below(3));
  std::sort(workers.begin(), workers.end());
  return workers;
}

// What all hold when the groups are carried out in the order of their numbers.
struct Expected {
  std::array<double, 4> value{1, 2, 3, 4};

  void mean(const Group& group) {
    double sum = 0;
    for (const auto worker : group) sum += value[worker];
    for (const auto worker : group) value[worker] = sum / static_cast<double>(group.size());
  }
};

void set(Replica& replica, float value) {
  replica.unit().write({&value, 1}, replica.parameters.entries());
}

float get(const Replica& replica) {
  float value = 0;
  replica.unit().read(replica.parameters.entries(), {&value, 1});
  return value;
}

bool contains(const Group& group, std::uint32_t worker) {
  return std::find(group.begin(), group.end(), worker) != group.end();
}

}  // namespace

TEST_CASE("mpi: random overlapping groups with random delays never stall and have one order") {
  const auto own = mpi_job().rank();
  PlainMember member(1);
  set(member.replica, static_cast<float>(own + 1));
  std::map<Group, CommunicatorId> known;  // by member list, as the group generator keeps them
  Expected expected;
  Stream delays(4, Purpose::Jitter, own, 0);
  const auto wanted = groups_wanted();
  std::uint64_t carried_out = 0;
  std::uint64_t wrong = 0;
  for (std::uint64_t number = 0; number < wanted; ++number) {
    // One worker steps aside, so that a mean out of order shows.
    const auto mover = static_cast<std::uint32_t>(number % 4);
    const float step = number / 4 % 2 == 0 ? 1 : -1;
    expected.value[mover] += step;
    if (mover == own) set(member.replica, get(member.replica) + step);

    const auto group = group_of(number);
    const CommunicatorId fresh{static_cast<std::uint32_t>(known.size())};
    const auto [communicator, create] = known.emplace(group, fresh);
    expected.mean(group);
    if (!contains(group, own)) continue;
    if (delays.below(8) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(delays.below(50)));
    member.carry_out(PlainMember::mean_of(group, number, communicator->second, create));
    ++carried_out;
    wrong += std::abs(get(member.replica) - expected.value[own]) < 1e-2 ? 0 : 1;
  }
  CHECK(member.failure == "");
  CHECK(member.done == carried_out);
  CHECK(wrong == 0);
}

}  // namespace cohort
