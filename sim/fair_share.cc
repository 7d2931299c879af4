#include "sim/fair_share.h"

#include <algorithm>
#include <cmath>

#include "policies/errors.h"

namespace cohort {
namespace {

// Up to this many candidates a scan for the lowest beats a heap (benchmarks/fair_share_bench.cc).
constexpr std::size_t kFewCandidates = 48;

void check_capacity(double capacity) {
  if (!(capacity > 0) || !std::isfinite(capacity)) {
    throw ContractError("fair share: a capacity must be finite and above zero");
  }
}

// For one more, growing by a quarter: doubling would take more memory.
template <typename Item>
void make_room(std::vector<Item>& items) {
  if (items.size() == items.capacity()) items.reserve(items.size() * 5 / 4 + 64);
}

// The lowest capacity / weight seen so far, with one division at the end.
class LowestLevel {
 public:
  void include(double capacity, double weight) {
    if (capacity * weight_ < capacity_ * weight) {
      capacity_ = capacity;
      weight_ = weight;
    }
  }
  [[nodiscard]] double value() const { return capacity_ / weight_; }

 private:
  double capacity_ = std::numeric_limits<double>::infinity();
  double weight_ = 1;
};

}  // namespace

template <class Visit>
void FairShare::for_each_load(const Activity& activity, Visit visit) const {
  for (auto number = activity.first_block; number != kNone; number = blocks_[number].next_block) {
    const auto& block = blocks_[number];
    for (std::uint32_t place = 0; place < kBlock && block.link[place] != kNone; ++place) {
      visit(block, place, number * kBlock + place);
    }
  }
}

LinkIndex FairShare::add_link(double capacity) {
  check_capacity(capacity);
  links_.push_back({number_of(capacity)});
  return LinkIndex{static_cast<std::uint32_t>(links_.size() - 1)};
}

void FairShare::set_capacity(LinkIndex link, double capacity) {
  check_capacity(capacity);
  if (this->capacity(link) == capacity) return;
  auto& changed = links_[raw(link)];
  changed.capacity = number_of(capacity);
  if (changed.users != kNone) mark_shared(owner(changed.users));
}

std::uint32_t FairShare::number_of(double capacity) {
  const auto next = static_cast<std::uint32_t>(capacities_.size());
  if (next > 0 && capacities_.back() == capacity) return next - 1;
  const auto [known, is_new] = capacity_numbers_.try_emplace(capacity, next);
  if (is_new) capacities_.push_back(capacity);
  return known->second;
}

ActivityIndex FairShare::prepare(std::span<const Load> loads) {
  if (loads.empty()) throw ContractError("fair share: an activity needs a load");
  const auto number = take_activity();
  activities_[number] = {.first_block = take_blocks(number, loads), .live = true};
  return ActivityIndex{number};
}

void FairShare::begin(ActivityIndex prepared) {
  const auto number = static_cast<std::uint32_t>(prepared);
  LowestLevel lowest;
  bool shares = false;
  for (auto at = activities_[number].first_block; at != kNone; at = blocks_[at].next_block) {
    auto& block = blocks_[at];
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t place = 0; place < kBlock && block.link[place] != kNone; ++place) {
      auto& link = links_[block.link[place]];
      block.next[place] = link.users;
      if (link.users != kNone) {
        shares = true;
        mark_shared(owner(link.users));
      }
      link.users = at * kBlock + place;
      least = std::min(least, capacities_[link.capacity]);
    }
    lowest.include(least, block.weight);
  }
  auto& activity = activities_[number];
  activity.rate = lowest.value();
  activity.begun = true;
  activity.changed = true;
  activity.shares = shares;
  touch(number);
}

void FairShare::remove(ActivityIndex removed) {
  const auto number = static_cast<std::uint32_t>(removed);
  if (number >= activities_.size() || !activities_[number].live) {
    throw ContractError("fair share: no such activity");
  }
  auto& activity = activities_[number];
  if (activity.shares) {
    for_each_load(activity, [&](const Block& block, std::uint32_t place, std::uint32_t incidence) {
      unlink(block.link[place], incidence);
    });
  } else if (activity.begun) {
    for_each_load(activity, [&](const Block& block, std::uint32_t place, std::uint32_t) {
      links_[block.link[place]].users = kNone;
    });
  }
  give_back_blocks(activity);
  activity.live = false;
  activity.touched = false;
  activity.first_block = std::exchange(free_activity_, number);
}

// Takes an incidence out of its link's list; the users that stay gain.
void FairShare::unlink(std::uint32_t link, std::uint32_t incidence) {
  auto* at = &links_[link].users;
  while (*at != incidence) at = &blocks_[*at / kBlock].next[*at % kBlock];
  *at = blocks_[incidence / kBlock].next[incidence % kBlock];
  if (links_[link].users != kNone) touch(owner(links_[link].users));
}

std::span<const ActivityIndex> FairShare::solve() {
  changed_.clear();
  for (const auto seed : touched_) {
    auto& activity = activities_[seed];
    if (!activity.touched) continue;
    if (activity.shares) {
      collect_component(seed);
      fill();
      for (const auto& constraint : constraints_) {
        links_[constraint.link].users = constraint.first_user;
      }
      for (const auto member : component_) report(member);
      if (component_.size() == 1) activity.shares = false;
    } else {
      activity.touched = false;
      activity.changed = false;
      changed_.push_back(ActivityIndex{seed});
    }
  }
  touched_.clear();
  return changed_;
}

std::uint32_t FairShare::take_activity() {
  if (free_activity_ == kNone) {
    make_room(activities_);
    free_activity_ = static_cast<std::uint32_t>(activities_.size());
    activities_.emplace_back();
  }
  return std::exchange(free_activity_, activities_[free_activity_].first_block);
}

// The loads as a chain of blocks; returns its first.
std::uint32_t FairShare::take_blocks(std::uint32_t owner, std::span<const Load> loads) {
  const auto first = take_block(owner, loads.front().weight);
  auto current = first;
  auto* block = &blocks_[current];
  std::uint32_t place = 0;
  for (const auto& load : loads) {
    if (place == kBlock || block->weight != load.weight) {
      const auto fresh = take_block(owner, load.weight);  // may move the blocks
      blocks_[current].next_block = fresh;
      current = fresh;
      block = &blocks_[current];
      place = 0;
    }
    block->link[place++] = raw(load.link);
  }
  return first;
}

std::uint32_t FairShare::take_block(std::uint32_t owner, double weight) {
  if (free_block_ == kNone) {
    make_room(blocks_);
    free_block_ = static_cast<std::uint32_t>(blocks_.size());
    blocks_.emplace_back().next_block = kNone;
  }
  const auto taken = free_block_;
  auto& block = blocks_[taken];
  free_block_ = block.next_block;
  if (free_block_ != kNone) expect(blocks_[free_block_]);
  block.weight = weight;
  block.owner = owner;
  block.next_block = kNone;
  block.link.fill(kNone);
  return taken;
}

void FairShare::give_back_blocks(const Activity& activity) {
  auto last = activity.first_block;
  while (blocks_[last].next_block != kNone) last = blocks_[last].next_block;
  blocks_[last].next_block = free_block_;
  free_block_ = activity.first_block;
}

void FairShare::touch(std::uint32_t activity) {
  if (activities_[activity].touched) return;
  activities_[activity].touched = true;
  touched_.push_back(activity);
}

void FairShare::mark_shared(std::uint32_t activity) {
  activities_[activity].shares = true;
  touch(activity);
}

// Breadth first: component_, the constraints among its members, and every candidate.
void FairShare::collect_component(std::uint32_t seed) {
  component_.assign(1, seed);
  constraints_.clear();
  candidates_.clear();
  activities_[seed].seen = true;
  for (std::uint32_t place = 0; place < component_.size(); ++place) {
    const double level = own_level(component_[place]);
    if (std::isfinite(level)) candidates_.push_back({level, place, false});
  }
  for (std::uint32_t place = 0; place < constraints_.size(); ++place) {
    auto& constraint = constraints_[place];
    constraint.level = constraint.room / constraint.weight;
    candidates_.push_back({constraint.level, place, true});
  }
}

// The rate that the links which the activity has for itself allow; collects users of the others.
double FairShare::own_level(std::uint32_t number) {
  LowestLevel lowest;
  for_each_load(activities_[number],
                [&](const Block& block, std::uint32_t place, std::uint32_t incidence) {
                  const auto& link = links_[block.link[place]];
                  if (link.users == incidence && block.next[place] == kNone) {
                    lowest.include(capacities_[link.capacity], block.weight);
                  } else if ((link.users & kConstraint) == 0) {
                    collect_users(block.link[place]);
                  }
                });
  return lowest.value();
}

void FairShare::collect_users(std::uint32_t number) {
  auto& link = links_[number];
  double weight = 0;
  std::uint32_t users = 0;
  for (auto user = link.users; user != kNone;) {
    const auto& block = blocks_[user / kBlock];
    weight += block.weight;
    ++users;
    if (auto& activity = activities_[block.owner]; !activity.seen) {
      activity.seen = true;
      activity.shares = true;
      component_.push_back(block.owner);
    }
    user = block.next[user % kBlock];
  }
  constraints_.push_back({capacities_[link.capacity], weight, 0, number, users, link.users});
  link.users = kConstraint | static_cast<std::uint32_t>(constraints_.size() - 1);
}

void FairShare::fill() {
  if (candidates_.size() <= kFewCandidates) {
    fill_few();
  } else {
    fill_many();
  }
}

void FairShare::fill_few() {
  double level = 0;
  while (true) {
    std::size_t lowest = 0;
    for (std::size_t i = 0; i < candidates_.size();) {
      auto& candidate = candidates_[i];
      if (!is_open(candidate)) {
        candidate = candidates_.back();
        candidates_.pop_back();
        continue;
      }
      if (candidate.is_constraint) candidate.level = constraints_[candidate.place].level;
      if (candidate.level < candidates_[lowest].level) lowest = i;
      ++i;
    }
    if (candidates_.empty()) return;
    const auto next = candidates_[lowest];
    level = std::max(level, next.level);
    saturate(next, level);
  }
}

// Levels of constraints only rise as activities are fixed: an outdated one is put back when met.
void FairShare::fill_many() {
  const auto later = [](const Candidate& a, const Candidate& b) { return a.level > b.level; };
  std::make_heap(candidates_.begin(), candidates_.end(), later);
  double level = 0;
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end(), later);
    auto next = candidates_.back();
    candidates_.pop_back();
    if (!is_open(next)) continue;
    if (next.is_constraint && constraints_[next.place].level > next.level) {
      next.level = constraints_[next.place].level;
      candidates_.push_back(next);
      std::push_heap(candidates_.begin(), candidates_.end(), later);
      continue;
    }
    level = std::max(level, next.level);
    saturate(next, level);
  }
}

bool FairShare::is_open(const Candidate& candidate) const {
  return candidate.is_constraint ? constraints_[candidate.place].unfixed > 0
                                 : !activities_[component_[candidate.place]].fixed;
}

void FairShare::saturate(const Candidate& candidate, double level) {
  if (!candidate.is_constraint) return fix(component_[candidate.place], level);
  for (auto user = constraints_[candidate.place].first_user; user != kNone;) {
    const auto& block = blocks_[user / kBlock];
    if (!activities_[block.owner].fixed) fix(block.owner, level);
    user = block.next[user % kBlock];
  }
}

void FairShare::fix(std::uint32_t number, double level) {
  auto& activity = activities_[number];
  activity.fixed = true;
  if (activity.rate != level) {
    activity.rate = level;
    activity.changed = true;
  }
  for_each_load(activity, [&](const Block& block, std::uint32_t place, std::uint32_t) {
    const auto& link = links_[block.link[place]];
    if ((link.users & kConstraint) == 0) return;
    auto& constraint = constraints_[link.users & ~kConstraint];
    constraint.room -= block.weight * level;
    constraint.weight -= block.weight;
    if (--constraint.unfixed > 0) constraint.level = constraint.room / constraint.weight;
  });
}

void FairShare::report(std::uint32_t number) {
  auto& activity = activities_[number];
  if (activity.changed) changed_.push_back(ActivityIndex{number});
  activity.changed = false;
  activity.touched = false;
  activity.seen = false;
  activity.fixed = false;
}

}  // namespace cohort
