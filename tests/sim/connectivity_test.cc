#include "sim/connectivity.h"

#include <doctest/doctest.h>

#include <vector>

namespace cohort {
namespace {

std::vector<PackedMember> group(std::initializer_list<std::uint32_t> workers) {
  std::vector<PackedMember> members;
  for (const auto worker : workers) members.emplace_back(Member{.worker = WorkerId{worker}});
  return members;
}

}  // namespace

TEST_CASE("connectivity: nothing is said before a window is complete") {
  Connectivity connectivity(2);
  connectivity.join(group({0, 1}));
  connectivity.reached(49);
  CHECK_FALSE(connectivity.connected().has_value());
}

TEST_CASE("connectivity: a chain of overlapping groups connects all workers") {
  Connectivity connectivity(5);
  connectivity.join(group({0, 1}));
  connectivity.join(group({3, 4}));
  connectivity.join(group({2, 1, 3}));
  connectivity.reached(50);
  CHECK(connectivity.connected() == true);
}

TEST_CASE("connectivity: two halves that never meet are disconnected") {
  Connectivity connectivity(4);
  for (int i = 0; i < 100; ++i) {
    connectivity.join(group({0, 1}));
    connectivity.join(group({2, 3}));
  }
  connectivity.reached(50);
  CHECK(connectivity.connected() == false);
}

TEST_CASE("connectivity: each window stands for itself, and one disconnected window decides") {
  Connectivity connectivity(2);
  connectivity.join(group({0, 1}));
  connectivity.reached(50);
  connectivity.reached(100);
  CHECK(connectivity.connected() == false);
  connectivity.join(group({0, 1}));
  connectivity.reached(150);
  CHECK(connectivity.connected() == false);
}

TEST_CASE("connectivity: windows after a worker ended are not judged") {
  Connectivity connectivity(2);
  connectivity.join(group({0, 1}));
  connectivity.reached(50);
  connectivity.stop();
  connectivity.reached(100);
  CHECK(connectivity.connected() == true);
}

TEST_CASE("connectivity: one worker alone is connected") {
  Connectivity connectivity(1);
  connectivity.reached(50);
  CHECK(connectivity.connected() == true);
}

}  // namespace cohort
