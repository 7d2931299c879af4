// Lexicographic max-min fair rates of activities that share links. Knows no simulator type and no
// time. Owned by the simulator's driver; sim/transfer_plan.h adds the links.
//
//   maximise lexicographically the sorted rates r(a) subject to, for every link l,
//       sum over active a of w(a,l) * r(a) <= capacity(l),
//
// by progressive filling: all unfixed rates of a component rise together until a link saturates;
// its activities are fixed. A change re-solves only the connected component (activities joined by
// links) that it touches; an activity that shares no link is solved as it is added. No allocation
// once warm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/prefetch.h"

namespace cohort {

enum class LinkIndex : std::uint32_t {};
enum class ActivityIndex : std::uint32_t {};

struct Load {
  LinkIndex link{};
  double weight =
      0;  // how often the activity crosses the link, > 0; a link at most once per activity
};

class FairShare {
 public:
  // Room for `links` more links with one user each, so that exactly their memory is taken.
  void reserve_links(std::size_t links) {
    links_.reserve(links_.size() + links);
    blocks_.reserve(links_.capacity() / kBlock + 64);
  }

  // Capacity in bytes per second, finite and > 0, else ContractError. Links are numbered from 0 in
  // the order of the calls.
  LinkIndex add_link(double capacity);
  void set_capacity(LinkIndex link, double capacity);
  [[nodiscard]] double capacity(LinkIndex link) const {
    return capacities_[links_[raw(link)].capacity];
  }
  [[nodiscard]] std::size_t link_count() const { return links_.size(); }

  // At least one load, else ContractError. Indices of removed activities are reused.
  ActivityIndex add(std::span<const Load> loads) {
    const auto activity = prepare(loads);
    begin(activity);
    return activity;
  }
  // The same in two steps: a prepared activity holds its loads, but uses no link before it begins.
  ActivityIndex prepare(std::span<const Load> loads);
  void begin(ActivityIndex activity);
  // Of one that may not have begun yet. ContractError when there is no such activity.
  void remove(ActivityIndex activity);

  // Solves what add, remove and set_capacity have touched since the last call. Returns the
  // activities whose rate changed (an added one always counts), each once, in an order that depends
  // on the calls alone. Valid until the next call.
  std::span<const ActivityIndex> solve();
  // Something has been touched since the last solve().
  [[nodiscard]] bool dirty() const { return !touched_.empty(); }
  // Bytes per second; after solve().
  [[nodiscard]] double rate(ActivityIndex activity) const {
    return activities_[static_cast<std::uint32_t>(activity)].rate;
  }

  // Prefetches what begin and remove need of an activity that was not removed: at step 0 the
  // activity, at step 1 its first loads, at step 2 their links.
  void expect(ActivityIndex activity, unsigned step) const {
    const auto& expected = activities_[static_cast<std::uint32_t>(activity)];
    if (step == 0) return prefetch(&expected);
    const auto& block = blocks_[expected.first_block];
    if (step == 1) return expect(block);
    for (const auto link : block.link)
      if (link != kNone) prefetch(&links_[link]);
  }

  // Bytes held for links and loads, for benchmarks.
  [[nodiscard]] std::size_t memory_bytes() const {
    return links_.capacity() * sizeof(Link) + blocks_.capacity() * sizeof(Block);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kBlock = 8;

  // Marks Link::users as a place in constraints_, where the first incidence is kept meanwhile.
  static constexpr std::uint32_t kConstraint = 0x80000000;

  // The loads of an activity are a chain of blocks, each of loads with one weight; the users of a
  // link are a list of incidences, numbered block * kBlock + place. Small, because a large cluster
  // has several per worker.
  struct Link {
    std::uint32_t capacity;       // in capacities_
    std::uint32_t users = kNone;  // first incidence; in a component that is solved: see kConstraint
  };
  struct Block {
    double weight;
    std::uint32_t owner;
    std::uint32_t next_block;                // kNone after the last of its activity
    std::array<std::uint32_t, kBlock> link;  // kNone behind the last load
    std::array<std::uint32_t, kBlock> next;  // incidence of the link's next user
  };
  struct Activity {
    double rate = 0;
    std::uint32_t first_block = kNone;  // of one that is not live: the next free one
    bool live : 1 = false;
    bool begun : 1 = false;
    bool changed : 1 = false;  // its rate is to be reported
    bool touched : 1 = false;  // is among touched_
    bool shares : 1 = false;   // may share a link; false: surely alone on all, rate is known
    bool seen : 1 = false;     // is in component_
    bool fixed : 1 = false;    // has its rate
  };
  // A link with several users, in the component that is being solved.
  struct Constraint {
    double room;    // capacity less what fixed users take
    double weight;  // of the users not yet fixed
    double level;   // room / weight: the common rate at which the link saturates
    std::uint32_t link;
    std::uint32_t unfixed;
    std::uint32_t first_user;
  };
  // What may stop the rise next: a constraint, or the own links of one activity.
  struct Candidate {
    double level;
    std::uint32_t place;  // in constraints_, or in component_
    bool is_constraint;
  };

  static void expect(const Block& block) {
    prefetch(&block);
    prefetch(&block + 1);
  }
  static constexpr std::uint32_t raw(LinkIndex link) { return static_cast<std::uint32_t>(link); }
  [[nodiscard]] std::uint32_t owner(std::uint32_t incidence) const {
    return blocks_[incidence / kBlock].owner;
  }
  [[nodiscard]] std::uint32_t number_of(double capacity);
  // Calls visit(block, place, incidence) for each load of an activity, in the order given to add.
  template <class Visit>
  void for_each_load(const Activity& activity, Visit visit) const;

  std::uint32_t take_activity();
  std::uint32_t take_blocks(std::uint32_t owner, std::span<const Load> loads);
  std::uint32_t take_block(std::uint32_t owner, double weight);
  void give_back_blocks(const Activity& activity);
  void touch(std::uint32_t activity);
  void mark_shared(std::uint32_t activity);
  void unlink(std::uint32_t link, std::uint32_t incidence);

  void collect_component(std::uint32_t seed);
  double own_level(std::uint32_t activity);
  void collect_users(std::uint32_t link);
  void fill();
  void fill_few();
  void fill_many();
  [[nodiscard]] bool is_open(const Candidate& candidate) const;
  void saturate(const Candidate& candidate, double level);
  void fix(std::uint32_t activity, double level);
  void report(std::uint32_t activity);

  std::vector<Link> links_;
  std::vector<double> capacities_;  // each different one once
  std::unordered_map<double, std::uint32_t> capacity_numbers_;
  std::vector<Block> blocks_;
  std::vector<Activity> activities_;
  std::uint32_t free_block_ = kNone;
  std::uint32_t free_activity_ = kNone;
  std::vector<std::uint32_t> touched_;
  std::vector<ActivityIndex> changed_;
  // Of the component that is being solved.
  std::vector<std::uint32_t> component_;
  std::vector<Constraint> constraints_;
  std::vector<Candidate> candidates_;
};

}  // namespace cohort
