#include "policies/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace cohort {
namespace {

Stream stream(std::uint64_t seed, Purpose purpose = Purpose::Jitter, std::uint32_t entity = 0,
              std::uint64_t step = 0, std::uint32_t sub = 0) {
  return Stream(seed, purpose, entity, step, sub);
}

}  // namespace

TEST_CASE("random: equal names give equal values") {
  auto one = stream(7, Purpose::Policy, 3, 9);
  auto other = stream(7, Purpose::Policy, 3, 9);
  for (int i = 0; i < 100; ++i) CHECK(one.next_u64() == other.next_u64());
}

TEST_CASE("random: the first uniform number alone is that of the stream") {
  for (const std::uint64_t step : {0ULL, 1ULL, 1ULL << 40}) {
    Stream whole(7, Purpose::Slowdown, 11, step, 3);
    CHECK(Stream::first_uniform(7, Purpose::Slowdown, 11, step, 3) == whole.uniform());
  }
}

TEST_CASE("random: streams differ in each part of their name") {
  std::set<std::uint64_t> first_values;
  auto take = [&](Stream s) { first_values.insert(s.next_u64()); };
  take(stream(1));
  take(stream(2));
  take(stream(std::uint64_t{1} << 32));
  take(stream(1, Purpose::Slowdown));
  take(stream(1, Purpose::Jitter, 1));
  take(stream(1, Purpose::Jitter, 0, 1));
  take(stream(1, Purpose::Jitter, 0, std::uint64_t{1} << 32));
  take(stream(1, Purpose::Jitter, 0, 0, 1));
  CHECK(first_values.size() == 8);
}

TEST_CASE("random: a stream does not run into another of the same entity and step") {
  auto long_one = stream(1);
  auto sub = stream(1, Purpose::Jitter, 0, 0, 1);
  const auto first_of_sub = sub.next_u32();
  for (int i = 0; i < 10000; ++i) REQUIRE(long_one.next_u32() != first_of_sub);
}

TEST_CASE("random: Philox 4x32-10 gives the published answer for key and counter zero") {
  // Known-answer vector of Random123 [Salmon 2011]; purpose 0, entity 0, step 0 is counter zero.
  auto zero = stream(0, Purpose::Slowdown);
  CHECK(zero.next_u32() == 0x6627e8d5U);
  CHECK(zero.next_u32() == 0xe169c58dU);
  CHECK(zero.next_u32() == 0xbc57ac4cU);
  CHECK(zero.next_u32() == 0x9b00dbd8U);
}

TEST_CASE("random: bounded integers are uniform") {
  constexpr std::uint32_t kBound = 7;
  constexpr int kDraws = 70000;
  std::array<int, kBound> counts{};
  auto s = stream(3);
  for (int i = 0; i < kDraws; ++i) ++counts.at(s.below(kBound));
  for (const auto count : counts) CHECK(std::abs(count - kDraws / 7) < 500);  // 5 sigma
}

TEST_CASE("random: below(1) is 0") { CHECK(stream(3).below(1) == 0); }

TEST_CASE("random: uniform numbers are in [0, 1) and have mean 1/2") {
  auto s = stream(4);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const auto u = s.uniform();
    REQUIRE((u >= 0 && u < 1));
    sum += u;
  }
  CHECK(sum / 100000 == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("random: exponential and normal have their means and variances") {
  auto s = stream(5);
  double exponential = 0;
  double normal = 0;
  double square = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    exponential += s.exponential();
    const auto z = s.normal();
    normal += z;
    square += z * z;
  }
  CHECK(exponential / kDraws == doctest::Approx(1).epsilon(0.02));
  CHECK(std::abs(normal / kDraws) < 0.01);
  CHECK(square / kDraws == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("random: a shuffle keeps the items and reaches every order") {
  std::set<std::array<int, 3>> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::array<int, 3> items = {1, 2, 3};
    stream(seed).shuffle(std::span<int>(items));
    orders.insert(items);
  }
  CHECK(orders.size() == 6);
  for (auto order : orders) CHECK(std::accumulate(order.begin(), order.end(), 0) == 6);
}

}  // namespace cohort
