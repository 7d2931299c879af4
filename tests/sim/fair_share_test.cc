#include "sim/fair_share.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "policies/errors.h"

namespace cohort {
namespace {

using Loads = std::vector<Load>;

// The equations of fair_share.h from scratch, one level at a time: no components, nothing kept.
std::vector<double> reference_rates(const std::vector<double>& capacity,
                                    const std::vector<Loads>& activities) {
  std::vector<double> rate(activities.size(), -1);
  const auto used = [&](std::size_t link, bool fixed) {
    double sum = 0;
    for (std::size_t a = 0; a < activities.size(); ++a) {
      for (const auto& load : activities[a]) {
        if (static_cast<std::size_t>(load.link) != link || (rate[a] >= 0) != fixed) continue;
        sum += fixed ? load.weight * rate[a] : load.weight;
      }
    }
    return sum;
  };
  while (std::count(rate.begin(), rate.end(), -1) > 0) {
    double lowest = INFINITY;
    std::size_t tight = 0;
    for (std::size_t link = 0; link < capacity.size(); ++link) {
      const double rising = used(link, false);
      if (rising == 0) continue;
      const double level = (capacity[link] - used(link, true)) / rising;
      if (level < lowest) {
        lowest = level;
        tight = link;
      }
    }
    for (std::size_t a = 0; a < activities.size(); ++a) {
      const bool crosses = std::any_of(
          activities[a].begin(), activities[a].end(),
          [&](const Load& load) { return static_cast<std::size_t>(load.link) == tight; });
      if (crosses && rate[a] < 0) rate[a] = lowest;
    }
  }
  return rate;
}

// A network under random additions and removals, beside the list of what is active.
class RandomNetwork {
 public:
  RandomNetwork(std::uint32_t seed, std::size_t links, std::size_t loads)
      : random_(seed), most_loads_(loads) {
    for (std::size_t i = 0; i < links; ++i) {
      capacity_.push_back(std::uniform_real_distribution(1.0, 10.0)(random_));
      share_.add_link(capacity_.back());
    }
  }

  void add() {
    std::set<std::size_t> chosen;
    const auto count = 1 + random_() % most_loads_;
    while (chosen.size() < count) chosen.insert(random_() % capacity_.size());
    Loads loads;
    for (const auto link : chosen) {
      loads.push_back({LinkIndex{static_cast<std::uint32_t>(link)}, 0.25 * (1 + random_() % 8)});
    }
    active_.emplace(share_.add(loads), loads);
  }

  void remove() {
    if (active_.empty()) return;
    auto victim = active_.begin();
    std::advance(victim, random_() % active_.size());
    share_.remove(victim->first);
    known_.erase(victim->first);
    active_.erase(victim);
  }

  void change_capacity() {
    const auto link = random_() % capacity_.size();
    capacity_[link] = std::uniform_real_distribution(1.0, 10.0)(random_);
    share_.set_capacity(LinkIndex{static_cast<std::uint32_t>(link)}, capacity_[link]);
  }

  void step() {
    for (auto changes = 1 + random_() % 4; changes > 0; --changes) {
      const auto what = random_() % 8;
      if (what < 4) add();
      if (what >= 4 && what < 7) remove();
      if (what == 7) change_capacity();
    }
    for (const auto activity : share_.solve()) known_[activity] = share_.rate(activity);
  }

  void check_against_reference() const {
    std::vector<Loads> loads;
    for (const auto& [activity, of] : active_) loads.push_back(of);
    const auto expected = reference_rates(capacity_, loads);
    std::size_t at = 0;
    for (const auto& [activity, of] : active_) {
      CHECK(share_.rate(activity) == doctest::Approx(expected[at++]).epsilon(1e-10));
    }
  }

  // Every rate that a reader of solve() has seen last is the rate that holds.
  void check_changes_were_reported() const {
    CHECK(known_.size() == active_.size());
    for (const auto& [activity, rate] : known_) CHECK(share_.rate(activity) == rate);
  }

  void check_feasible_and_bottlenecked() const {
    std::vector<double> used(capacity_.size(), 0.0);
    std::vector<double> fastest(capacity_.size(), 0.0);
    for (const auto& [activity, loads] : active_) {
      for (const auto& load : loads) {
        const auto link = static_cast<std::size_t>(load.link);
        used[link] += load.weight * share_.rate(activity);
        fastest[link] = std::max(fastest[link], share_.rate(activity));
      }
    }
    for (std::size_t i = 0; i < used.size(); ++i) CHECK(used[i] <= capacity_[i] * (1 + 1e-12));
    for (const auto& [activity, loads] : active_) {
      CHECK(std::any_of(loads.begin(), loads.end(), [&, a = activity](const Load& load) {
        const auto link = static_cast<std::size_t>(load.link);
        return used[link] >= capacity_[link] * (1 - 1e-12) &&
               share_.rate(a) >= fastest[link] * (1 - 1e-12);
      }));
    }
  }

 private:
  std::mt19937 random_;
  std::size_t most_loads_;
  std::vector<double> capacity_;
  FairShare share_;
  std::map<ActivityIndex, Loads> active_;
  std::map<ActivityIndex, double> known_;
};

// Names of what solve() reports, sorted.
std::vector<ActivityIndex> sorted(std::span<const ActivityIndex> changed) {
  std::vector<ActivityIndex> all(changed.begin(), changed.end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("fair share: an activity alone runs at its lowest capacity per crossing") {
  FairShare share;
  const auto wide = share.add_link(12);
  const auto narrow = share.add_link(5);
  const auto alone = share.add(Loads{{wide, 4}, {narrow, 1}});
  CHECK(share.solve().size() == 1);
  CHECK(share.rate(alone) == 3);
}

TEST_CASE("fair share: two equal activities on one link get half each") {
  FairShare share;
  const auto link = share.add_link(5e9);
  const auto first = share.add(Loads{{link, 1}});
  const auto second = share.add(Loads{{link, 1}});
  CHECK(sorted(share.solve()) == std::vector{first, second});
  CHECK(share.rate(first) == 2.5e9);
  CHECK(share.rate(second) == 2.5e9);
}

TEST_CASE("fair share: what a bottlenecked activity leaves goes to the others") {
  FairShare share;
  const auto shared = share.add_link(10);
  const auto narrow = share.add_link(2);
  const auto slow = share.add(Loads{{shared, 1}, {narrow, 1}});
  const auto fast = share.add(Loads{{shared, 1}});
  share.solve();
  CHECK(share.rate(slow) == 2);
  CHECK(share.rate(fast) == 8);
}

TEST_CASE("fair share: rates are equal, not shares of the link, when weights differ") {
  FairShare share;
  const auto link = share.add_link(12);
  const auto twice = share.add(Loads{{link, 2}});
  const auto once = share.add(Loads{{link, 1}});
  share.solve();
  CHECK(share.rate(twice) == 4);
  CHECK(share.rate(once) == 4);
}

TEST_CASE("fair share: a removal gives the rest the whole link") {
  FairShare share;
  const auto link = share.add_link(10);
  const auto first = share.add(Loads{{link, 1}});
  const auto second = share.add(Loads{{link, 1}});
  share.solve();
  share.remove(first);
  CHECK(sorted(share.solve()) == std::vector{second});
  CHECK(share.rate(second) == 10);
}

TEST_CASE("fair share: a change leaves other components alone") {
  FairShare share;
  const auto here = share.add_link(10);
  const auto there = share.add_link(10);
  share.add(Loads{{there, 1}});
  const auto first = share.add(Loads{{here, 1}});
  share.solve();
  const auto second = share.add(Loads{{here, 1}});
  CHECK(sorted(share.solve()) == std::vector{first, second});
}

TEST_CASE("fair share: a prepared activity uses no link before it begins, and may be removed") {
  FairShare share;
  const Loads loads{{share.add_link(12), 1}};
  const auto running = share.add(loads);
  const auto prepared = share.prepare(loads);
  const auto given_up = share.prepare(loads);
  share.remove(given_up);
  (void)share.solve();
  CHECK(share.rate(running) == 12);
  share.begin(prepared);
  (void)share.solve();
  CHECK(share.rate(running) == 6);
  CHECK(share.rate(prepared) == 6);
}

TEST_CASE("fair share: an activity added and removed before the solve is not reported") {
  FairShare share;
  const auto link = share.add_link(10);
  share.remove(share.add(Loads{{link, 1}}));
  CHECK(share.solve().empty());
}

TEST_CASE("fair share: the place of an activity removed before the solve is reported once") {
  FairShare share;
  const auto link = share.add_link(10);
  const auto first = share.add(Loads{{link, 1}});
  share.remove(first);
  const auto again = share.add(Loads{{link, 2}});
  CHECK(again == first);
  CHECK(sorted(share.solve()) == std::vector{again});
  CHECK(share.rate(again) == 5);
}

TEST_CASE("fair share: a new capacity moves an activity that is alone") {
  FairShare share;
  const auto link = share.add_link(10);
  const auto alone = share.add(Loads{{link, 1}});
  share.solve();
  share.set_capacity(link, 4);
  CHECK(sorted(share.solve()) == std::vector{alone});
  CHECK(share.rate(alone) == 4);
}

TEST_CASE("fair share: impossible values are refused") {
  FairShare share;
  CHECK_THROWS_AS(share.add_link(0), ContractError);
  CHECK_THROWS_AS(share.add_link(INFINITY), ContractError);
  CHECK_THROWS_AS(share.add_link(NAN), ContractError);
  CHECK_THROWS_AS(share.add({}), ContractError);
  const auto gone = share.add(Loads{{share.add_link(1), 1}});
  share.remove(gone);
  CHECK_THROWS_AS(share.remove(gone), ContractError);
}

TEST_CASE("fair share: random networks agree with the reference, incrementally") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    RandomNetwork network(seed, 4 + seed % 20, 1 + seed % 4);
    for (int step = 0; step < 60; ++step) {
      CAPTURE(step);
      network.step();
      network.check_against_reference();
      network.check_feasible_and_bottlenecked();
      network.check_changes_were_reported();
    }
  }
}

TEST_CASE("fair share: large components agree with the reference") {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    RandomNetwork network(seed, 80, 6);
    for (int i = 0; i < 60; ++i) network.add();
    for (int step = 0; step < 10; ++step) {
      network.step();
      network.check_against_reference();
      network.check_feasible_and_bottlenecked();
      network.check_changes_were_reported();
    }
  }
}

TEST_CASE("fair share: halving every capacity halves every rate") {
  FairShare whole;
  FairShare half;
  std::mt19937 random(7);
  for (int i = 0; i < 12; ++i) {
    const double capacity = 1 + random() % 9;
    whole.add_link(capacity);
    half.add_link(capacity / 2);
  }
  for (int i = 0; i < 10; ++i) {
    const auto link = random() % 11;
    const Loads loads{{LinkIndex{static_cast<std::uint32_t>(link)}, 1},
                      {LinkIndex{static_cast<std::uint32_t>(link + 1)}, 2}};
    whole.add(loads);
    half.add(loads);
  }
  whole.solve();
  half.solve();
  for (std::uint32_t i = 0; i < 10; ++i) {
    CHECK(whole.rate(ActivityIndex{i}) == 2 * half.rate(ActivityIndex{i}));
  }
}

}  // namespace cohort
