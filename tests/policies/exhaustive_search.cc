#include "tests/policies/exhaustive_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <sstream>
#include <vector>

#include "tests/policies/arena.h"

namespace cohort {
namespace {

constexpr std::size_t kMostWorkers = 6;
constexpr std::size_t kMostLive = 16;

enum class Phase : std::uint8_t { Computing, Waiting, Through, Left, Lost };

// Everything outside the policy. Plain 64-bit words, so that it can be hashed as it is.
struct World {
  struct Worker {
    std::uint32_t step = 0;
    Phase phase = Phase::Computing;
    std::uint8_t inside = 0;    // live synchronisations, in any role
    std::uint8_t blocking = 0;  // live synchronisations in which it blocks
    std::uint8_t unused = 0;
  };
  struct Live {
    std::uint64_t id = 0;
    std::uint32_t members = 0;   // one bit per worker
    std::uint32_t blocking = 0;  // the same
  };
  struct Timer {
    std::uint64_t id = 0;
    std::int64_t at = 0;
  };
  std::array<Worker, kMostWorkers> workers{};
  std::array<Live, kMostLive> live{};
  std::array<Timer, kMostLive> timers{};
  std::uint64_t live_count = 0;
  std::uint64_t timer_count = 0;
  std::int64_t now = 0;
  std::uint64_t losses = 0;
};
static_assert(std::has_unique_object_representations_v<World>);

// 64 bits of two mixed lanes.
class Hash {
 public:
  void add(std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      a_ = std::rotl((a_ ^ word) * 0x9e3779b97f4a7c15, 29);
      b_ = std::rotl(b_ + word, 31) * 0xc2b2ae3d27d4eb4f;
    }
    a_ ^= bytes.size();
  }
  [[nodiscard]] std::uint64_t value() const {
    auto mixed = (a_ ^ std::rotl(b_, 23)) * 0xff51afd7ed558ccd;
    mixed ^= mixed >> 32;
    return mixed == 0 ? 1 : mixed;
  }

 private:
  std::uint64_t a_ = 0x243f6a8885a308d3;
  std::uint64_t b_ = 0x13198a2e03707344;
};

// Hashes that were seen: open addressing, 0 is empty.
class SeenSet {
 public:
  // False when it was there already.
  bool insert(std::uint64_t hash) {
    if (2 * size_ >= cells_.size()) grow();
    const bool is_new = place(hash);
    size_ += is_new ? 1 : 0;
    return is_new;
  }

 private:
  bool place(std::uint64_t hash) {
    auto i = hash & (cells_.size() - 1);
    while (cells_[i] != 0 && cells_[i] != hash) i = (i + 1) & (cells_.size() - 1);
    const bool is_new = cells_[i] == 0;
    cells_[i] = hash;
    return is_new;
  }
  void grow() {
    std::vector<std::uint64_t> old(2 * cells_.size());
    old.swap(cells_);
    for (const auto hash : old)
      if (hash != 0) place(hash);
  }

  std::vector<std::uint64_t> cells_ = std::vector<std::uint64_t>(1024);
  std::size_t size_ = 0;
};

std::string name(const Event& event) {
  constexpr std::array kNames = {"joined", "ready", "left", "lost", "done", "failed", "fired"};
  std::ostringstream text;
  text << kNames.at(static_cast<std::size_t>(event.kind)) << ' ';
  switch (event.kind) {
    case EventKind::SyncDone:
    case EventKind::SyncFailed:
      text << index(event.sync);
      break;
    case EventKind::TimerFired:
      text << index(event.timer);
      break;
    default:
      text << index(event.worker);
  }
  return text.str();
}

class Search {
 public:
  Search(Policy& policy, const Topology& topology, const SearchOptions& options)
      : policy_(policy), workers_(topology.workers()), options_(options) {
    world_.losses = options.losses;
    for (int i = 0; i < 256; ++i) {  // actions_ must not allocate inside the arena
      actions_.start(SyncId{0}, SyncKind::GroupMean);
      actions_.add_member(WorkerId{0}, Role::Blocking, 0);
    }
  }

  SearchResult run() {
    explore();
    return std::move(result_);
  }

 private:
  // What a level of the search puts back after each event; reused.
  struct Level {
    World world;
    std::vector<std::byte> policy;
    std::vector<Event> events;
  };

  void explore(std::size_t depth = 0) {
    if (!seen_.insert(hash())) return;
    if (++result_.states > options_.most_states) result_.complete = false;
    if (depth == levels_.size()) levels_.emplace_back();
    auto& level = levels_[depth];
    collect_events(level.events);
    if (nothing_is_owed(level.events)) judge_end();
    level.world = world_;
    const auto image = arena_image();
    level.policy.assign(image.begin(), image.end());
    for (const auto& event : level.events) {
      if (!result_.complete) return;
      path_.push_back(event);
      if (deliver(event)) {
        explore(depth + 1);
      } else {
        trouble(result_.conflicts, "conflict");
      }
      path_.pop_back();
      world_ = level.world;
      restore_arena(level.policy);
    }
  }

  [[nodiscard]] std::uint64_t hash() const {
    Hash hash;
    hash.add(std::as_bytes(std::span(world_.workers)));
    hash.add(std::as_bytes(std::span(world_.live).first(world_.live_count)));
    hash.add(std::as_bytes(std::span(world_.timers).first(world_.timer_count)));
    const std::array rest = {static_cast<std::uint64_t>(world_.now), world_.losses};
    hash.add(std::as_bytes(std::span(rest)));
    hash.add(arena_image());
    return hash.value();
  }

  void collect_events(std::vector<Event>& events) const {
    events.clear();
    const Time now{world_.now};
    for (std::uint32_t w = 0; w < workers_; ++w) {
      const auto& worker = world_.workers[w];
      const bool gone = worker.phase == Phase::Left || worker.phase == Phase::Lost;
      if (worker.phase == Phase::Computing)
        events.push_back(Event::ready(now, WorkerId{w}, worker.step, Time{1}));
      if (worker.phase == Phase::Through && worker.inside == 0)
        events.push_back(Event::left(now, WorkerId{w}));
      if (world_.losses > 0 && !gone) events.push_back(Event::lost(now, WorkerId{w}));
    }
    for (std::size_t i = 0; i < world_.live_count; ++i) {
      const SyncId id{world_.live[i].id};
      events.push_back(has_lost(world_.live[i]) ? Event::failed(now, id)
                                                : Event::done(now, id, Time{1}));
    }
    for (std::size_t i = 0; i < world_.timer_count; ++i)
      events.push_back(
          Event::fired(std::max(now, Time{world_.timers[i].at}), TimerId{world_.timers[i].id}));
  }

  [[nodiscard]] bool has_lost(const World::Live& live) const {
    for (std::uint32_t w = 0; w < workers_; ++w)
      if ((live.members >> w & 1) != 0 && world_.workers[w].phase == Phase::Lost) return true;
    return false;
  }

  // A loss may always stay away, so it does not keep a run going.
  [[nodiscard]] static bool nothing_is_owed(const std::vector<Event>& events) {
    return std::ranges::all_of(events,
                               [](const auto& e) { return e.kind == EventKind::WorkerLost; });
  }

  void judge_end() {
    const auto waiting = std::ranges::count(world_.workers, Phase::Waiting, &World::Worker::phase);
    if (waiting == 0) ++result_.finished;
    if (waiting == 1) trouble(result_.starvations, "starvation");
    if (waiting > 1) trouble(result_.deadlocks, "deadlock");
  }

  void trouble(std::uint64_t& count, const char* kind) {
    ++count;
    if (!result_.first_trouble.empty()) return;
    result_.first_trouble = kind;
    for (const auto& event : path_) result_.first_trouble.append(", ").append(name(event));
  }

  // False when the answer is in conflict with the state of the workers.
  bool deliver(const Event& event) {
    world_.now = event.at.count();
    happen(event);
    actions_.clear();
    {
      const ArenaScope scope;
      policy_.step(event, actions_);
    }
    return std::ranges::all_of(actions_.all(), [this](const auto& a) { return carry_out(a); });
  }

  void happen(const Event& event) {
    auto& worker = world_.workers[index(event.worker)];
    if (event.kind == EventKind::WorkerReady) {
      ++worker.step;
      worker.phase = Phase::Waiting;
    }
    if (event.kind == EventKind::WorkerLeft) worker.phase = Phase::Left;
    if (event.kind == EventKind::WorkerLost) {
      worker.phase = Phase::Lost;
      --world_.losses;
    }
    if (event.kind == EventKind::SyncDone || event.kind == EventKind::SyncFailed) end(event.sync);
    if (event.kind == EventKind::TimerFired) forget_timer(event.timer);
  }

  void end(SyncId sync) {
    auto* last = world_.live.data() + world_.live_count;
    auto* live = std::find_if(world_.live.data(), last,
                              [&](const auto& one) { return one.id == index(sync); });
    for (std::uint32_t w = 0; w < workers_; ++w) {
      world_.workers[w].inside -= live->members >> w & 1;
      world_.workers[w].blocking -= live->blocking >> w & 1;
    }
    std::move(live + 1, last, live);
    *(last - 1) = {};
    --world_.live_count;
  }

  void forget_timer(TimerId timer) {
    auto* last = world_.timers.data() + world_.timer_count;
    auto* found = std::find_if(world_.timers.data(), last,
                               [&](const auto& one) { return one.id == index(timer); });
    if (found == last) return;
    std::move(found + 1, last, found);
    *(last - 1) = {};
    --world_.timer_count;
  }

  bool carry_out(const Action& action) {
    switch (action.kind) {
      case ActionKind::Start:
        return start(action);
      case ActionKind::Release: {
        auto& worker = world_.workers[index(action.worker)];
        const bool waits = worker.phase == Phase::Waiting && worker.blocking == 0;
        worker.phase = worker.step == options_.steps ? Phase::Through : Phase::Computing;
        return waits;
      }
      case ActionKind::SetTimer:
        world_.timers.at(world_.timer_count++) = {index(action.timer), action.at.count()};
        return true;
      case ActionKind::CancelTimer:
        forget_timer(action.timer);
        return true;
    }
    return false;
  }

  bool start(const Action& action) {
    auto& live = world_.live.at(world_.live_count++);
    live.id = index(action.sync);
    bool fits = true;
    for (const auto& member : actions_.members(action)) {
      if (member.role == Role::Server) continue;
      const auto w = index(member.worker);
      auto& worker = world_.workers[w];
      live.members |= 1U << w;
      ++worker.inside;
      if (member.role != Role::Blocking) continue;
      fits = fits && worker.phase == Phase::Waiting && worker.blocking == 0;
      live.blocking |= 1U << w;
      ++worker.blocking;
    }
    return fits;
  }

  Policy& policy_;
  std::uint32_t workers_;
  SearchOptions options_;
  World world_;
  Actions actions_;
  SeenSet seen_;
  std::deque<Level> levels_;
  std::vector<Event> path_;
  SearchResult result_;
};

}  // namespace

SearchResult search_exhaustively(const PolicyFactory& make, const Topology& topology,
                                 const SearchOptions& options) {
  (void)make();  // whatever a policy keeps for the whole program is made outside the arena
  clear_arena();
  std::unique_ptr<Policy> policy;
  {
    const ArenaScope scope;
    policy = make();
  }
  auto result = Search(*policy, topology, options).run();
  policy.reset();
  clear_arena();
  return result;
}

}  // namespace cohort
