#include "policies/smart.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>

#include "policies/random.h"
#include "tests/policies/policy_bench.h"

namespace cohort {
namespace {

using Groups = std::set<std::set<std::uint32_t>>;

Options plain(std::int64_t group_size) {
  Options options;
  options.set("inter_intra", false);
  options.set("group_size", group_size);
  return options;
}

// Everybody is ready once, then everything that started ends. Workers that are released at their
// ready count as groups of one.
Groups round(PolicyBench& bench, std::uint32_t workers) {
  Groups groups;
  std::vector<std::uint64_t> live;
  for (std::uint32_t w = 0; w < workers; ++w) {
    bench.ready(w);
    for (const auto& action : bench.actions().all()) {
      if (action.kind == ActionKind::Release) {
        groups.insert({index(action.worker)});
        continue;
      }
      std::set<std::uint32_t> group;
      for (const auto& member : bench.actions().members(action)) group.insert(index(member.worker));
      groups.insert(group);
      live.push_back(index(action.sync));
    }
  }
  for (const auto sync : live) bench.done(sync);
  return groups;
}

std::vector<std::size_t> sizes(const Groups& groups) {
  std::vector<std::size_t> list;
  for (const auto& group : groups) list.push_back(group.size());
  std::ranges::sort(list);
  return list;
}

bool covers_once(const Groups& groups, std::uint32_t workers) {
  std::multiset<std::uint32_t> named;
  for (const auto& group : groups) named.insert(group.begin(), group.end());
  return named.size() == workers && std::set(named.begin(), named.end()).size() == workers;
}

const Groups kNodesOf4x4 = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};

}  // namespace

TEST_CASE(
    "smart: a division of everybody covers each worker once in the inter and in the intra phase") {
  PolicyBench bench("smart", {}, Topology(4, 4));
  for (int division = 0; division < 50; ++division) {
    const auto inter = round(bench, 16);
    CHECK(covers_once(inter, 16));
    CHECK(sizes(inter) == std::vector<std::size_t>{3, 3, 3, 3, 4});
    for (const auto& group : inter) {
      std::set<std::uint32_t> nodes;
      for (const auto worker : group) nodes.insert(worker / 4);
      CHECK(nodes.size() == (group.size() == 4 ? 4 : 1));
    }
    CHECK(round(bench, 16) == kNodesOf4x4);
  }
}

TEST_CASE("smart: every worker of a node becomes its head") {
  PolicyBench bench("smart", {}, Topology(4, 4));
  std::set<std::uint32_t> heads;
  for (int division = 0; division < 100; ++division) {
    for (const auto& group : round(bench, 16))
      if (group.size() == 4) heads.insert(group.begin(), group.end());
    round(bench, 16);
  }
  CHECK(heads.size() == 16);
}

TEST_CASE("smart: heads form groups of head_group_size, a leftover of one joins the last") {
  Options options;
  options.set("head_group_size", std::int64_t{2});
  PolicyBench bench("smart", options, Topology(5, 2));
  const auto inter = round(bench, 10);
  CHECK(covers_once(inter, 10));
  CHECK(sizes(inter) == std::vector<std::size_t>{1, 1, 1, 1, 1, 2, 3});
}

TEST_CASE(
    "smart: plain division cuts into groups of group_size, a leftover of one joins the last") {
  PolicyBench nine("smart", plain(4), Topology(3, 3));
  CHECK(sizes(round(nine, 9)) == std::vector<std::size_t>{4, 5});
  PolicyBench ten("smart", plain(4), Topology(5, 2));
  CHECK(sizes(round(ten, 10)) == std::vector<std::size_t>{2, 4, 4});
  PolicyBench three("smart", plain(3), Topology(1, 3));
  CHECK(sizes(round(three, 3)) == std::vector<std::size_t>{3});
}

TEST_CASE("smart: plain divisions mix all workers") {
  PolicyBench bench("smart", plain(2), Topology(2, 3));
  Groups pairs;
  for (int division = 0; division < 200; ++division) {
    const auto groups = round(bench, 6);
    CHECK(covers_once(groups, 6));
    pairs.insert(groups.begin(), groups.end());
  }
  CHECK(pairs.size() == 15);
}

TEST_CASE("smart: inter-intra is on when there are several nodes, all with several workers") {
  const auto* smart = find_policy("smart");
  const auto options = resolve(*smart, {});
  const std::array<std::uint32_t, 2> uneven = {3, 1};
  CHECK(uses_inter_intra(options, Topology(2, 2)));
  CHECK_FALSE(uses_inter_intra(options, Topology(1, 8)));
  CHECK_FALSE(uses_inter_intra(options, Topology(8, 1)));
  CHECK_FALSE(uses_inter_intra(options, Topology(uneven)));
  Options on;
  on.set("inter_intra", true);
  CHECK(uses_inter_intra(resolve(*smart, on), Topology(uneven)));
}

TEST_CASE("smart: on a node of one the intra phase releases its worker") {
  Options options;
  options.set("inter_intra", true);
  const std::array<std::uint32_t, 2> nodes = {2, 1};
  PolicyBench bench("smart", options, Topology(nodes));
  const auto inter = round(bench, 3);
  CHECK(covers_once(inter, 3));
  CHECK(sizes(inter) == std::vector<std::size_t>{1, 2});
  CHECK(round(bench, 3) == Groups{{0, 1}, {2}});
}

namespace {

// Whether worker 0, with its partner five steps ahead of the two others and everybody idle, is
// grouped with that partner again.
bool stays_with_partner(const Options& options, std::uint64_t seed) {
  PolicyBench bench("smart", options, Topology(1, 4), seed);
  std::uint32_t partner = 0;
  std::uint64_t fast = 0, slow = 0;
  for (std::uint32_t w = 0; w < 4; ++w) {
    bench.ready(w);
    for (const auto& action : bench.actions().all()) {
      const auto members = bench.actions().members(action);
      const bool with_0 = std::ranges::count(members, WorkerId{0}, &Member::worker) > 0;
      (with_0 ? fast : slow) = index(action.sync);
      if (with_0) partner = w;
    }
  }
  bench.done(fast);
  for (std::uint64_t sync = 2; sync < 6; ++sync) {
    bench.ready(0);
    bench.ready(partner);
    bench.done(sync);
  }
  bench.done(slow);
  bench.ready(0);
  return !bench.ready(partner).empty();
}

}  // namespace

TEST_CASE("smart: idle workers that are threshold requests behind the caller are not drafted") {
  auto options = plain(2);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) CHECK(stays_with_partner(options, seed));
  options.set("threshold", OptionValue{});
  int stayed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) stayed += stays_with_partner(options, seed);
  CHECK(stayed > 0);
  CHECK(stayed < 15);
}

TEST_CASE("smart: a lost worker leaves the buffered groups") {
  PolicyBench bench("smart", plain(3), Topology(1, 3));
  CHECK(bench.ready(0) == "");
  CHECK(bench.ready(1) == "");
  const auto answer = bench.lost(2);
  CHECK((answer == "start 0: 0 1" || answer == "start 0: 1 0"));
}

TEST_CASE("smart: workers that are gone are never drafted") {
  PolicyBench bench("smart", {}, Topology(2, 2));
  CHECK(bench.lost(3) == "");
  CHECK(bench.left(2) == "");
  CHECK(bench.ready(0) == "release 0");  // inter phase: a head and a local group of one
  CHECK(bench.ready(1) == "release 1");
  CHECK(bench.ready(0) == "");
  bench.ready(1);
  REQUIRE(bench.actions().all().size() == 1);
  CHECK(bench.actions().all()[0].member_count == 2);
}

TEST_CASE("smart: the survivors of a failed group start again under a new id") {
  PolicyBench bench("smart", plain(4), Topology(1, 4));
  for (std::uint32_t w = 0; w < 4; ++w) bench.ready(w);
  CHECK(bench.lost(1) == "");
  bench.failed(0);
  REQUIRE(bench.actions().all().size() == 1);
  CHECK(bench.actions().all()[0].sync == SyncId{1});
  CHECK(bench.actions().all()[0].member_count == 3);
}

TEST_CASE("smart: without division a request makes one group of idle workers") {
  auto options = plain(4);
  options.set("division", false);
  PolicyBench bench("smart", options, Topology(4, 4));
  for (int i = 0; i < 20; ++i) {
    const auto groups = round(bench, 16);
    CHECK(covers_once(groups, 16));
    CHECK(sizes(groups) == std::vector<std::size_t>{4, 4, 4, 4});
  }
}

TEST_CASE("smart: without division laggards are not drafted either") {
  auto options = plain(2);
  options.set("division", false);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) CHECK(stays_with_partner(options, seed));
}

namespace {

// Lets a random free worker become ready, or a random synchronisation end.
class Loop {
 public:
  Loop(const std::string& name, const Options& options, std::uint64_t seed)
      : bench_(name, options, Topology(4, 4), seed), order_(1, Purpose::Tie, 0, 0) {
    for (std::uint32_t w = 0; w < 16; ++w) free_.push_back(w);
  }

  std::string next() {
    const auto choices = static_cast<std::uint32_t>(free_.size() + live_.size());
    REQUIRE(choices > 0);
    const bool is_sync = order_.below(choices) >= free_.size();
    const auto answer =
        is_sync ? bench_.done(take(live_)) : bench_.ready(static_cast<std::uint32_t>(take(free_)));
    for (const auto& action : bench_.actions().all()) {
      if (action.kind == ActionKind::Release) {
        free_.push_back(index(action.worker));
        continue;
      }
      live_.push_back(index(action.sync));
      std::set<std::uint32_t> group;
      for (const auto& member : bench_.actions().members(action))
        group.insert(index(member.worker));
      started_.insert(group);
    }
    return answer;
  }
  [[nodiscard]] const Groups& started() const { return started_; }

 private:
  std::uint64_t take(std::vector<std::uint64_t>& list) {
    std::swap(list[order_.below(static_cast<std::uint32_t>(list.size()))], list.back());
    const auto taken = list.back();
    list.pop_back();
    return taken;
  }

  PolicyBench bench_;
  Stream order_;
  std::vector<std::uint64_t> free_;
  std::vector<std::uint64_t> live_;
  Groups started_;
};

}  // namespace

TEST_CASE("smart: without its group buffer it does what random does") {
  Options options;
  options.set("group_buffer", false);
  Loop smart("smart", options, 7);
  Loop random("random", {}, 7);
  for (int i = 0; i < 2000; ++i) REQUIRE(smart.next() == random.next());
  CHECK(smart.started().size() > 50);
}

TEST_CASE("smart: a vocabulary bounds the different groups, and divisions still cover everybody") {
  for (const bool inter_intra : {true, false}) {
    Options options;
    options.set("inter_intra", inter_intra);
    options.set("vocabulary", std::int64_t{3});
    PolicyBench bench("smart", options, Topology(4, 4));
    Groups first, second;
    for (int division = 0; division < 200; ++division) {
      const auto groups = round(bench, 16);
      CHECK(covers_once(groups, 16));
      first.insert(groups.begin(), groups.end());
      if (inter_intra) CHECK(round(bench, 16) == kNodesOf4x4);
    }
    CHECK(first.size() <= std::size_t{3} * (inter_intra ? 5 : 4));
    CHECK(first.size() > 5);
  }
}

TEST_CASE("smart: a vocabulary without division bounds the different groups too") {
  auto options = plain(2);
  options.set("division", false);
  options.set("vocabulary", std::int64_t{20});
  Loop loop("smart", options, 1);
  for (int i = 0; i < 5000; ++i) loop.next();
  CHECK(loop.started().size() <= 20);
  CHECK(loop.started().size() > 5);
}

TEST_CASE("smart: the answers depend on the seed and on nothing else") {
  PolicyBench one("smart", plain(2), Topology(2, 4), 1);
  PolicyBench again("smart", plain(2), Topology(2, 4), 1);
  PolicyBench other("smart", plain(2), Topology(2, 4), 2);
  int differ = 0;
  for (int i = 0; i < 10; ++i) {
    const auto groups = round(one, 8);
    CHECK(groups == round(again, 8));
    differ += groups != round(other, 8);
  }
  CHECK(differ > 0);
}

TEST_CASE("smart: sizes that do not fit are refused with their place") {
  CHECK(refusal("smart", plain(17), Topology(4, 4)) == "/group_size");
  CHECK(refusal("smart", {}, Topology(1, 1)) == "");
  Options heads;
  heads.set("head_group_size", std::int64_t{5});
  CHECK(refusal("smart", heads, Topology(4, 4)) == "/head_group_size");
  Options threshold;
  threshold.set("threshold", std::int64_t{0});
  CHECK(refusal("smart", threshold, Topology(4, 4)) == "/threshold");
}

}  // namespace cohort
