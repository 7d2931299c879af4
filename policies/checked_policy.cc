#include "policies/checked_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "policies/errors.h"
#include "policies/packed_member.h"
#include "policies/prefetch.h"
#include "policies/sync_table.h"

namespace cohort {
namespace {

// What is true of a participant, as bits.
enum Flag : std::uint32_t {
  kReady = 1,       // reported ready and not yet released
  kSnapshot = 2,    // released with a snapshot that no start has used
  kBlocking = 4,    // blocking member of a live synchronisation
  kBackground = 8,  // the same for the two other roles that a worker has once at most
  kPassive = 16,
  kNamed = 32,  // by the start that is being checked
  kLeft = 64,
  kLost = 128,
  kMembership = 256,  // times the live synchronisations that it is in, in any role
};

struct Participant {  // a worker or a server
  std::uint32_t next_step = 0;
  std::uint32_t state = 0;  // flags, and above them the memberships

  [[nodiscard]] bool is(std::uint32_t any) const { return (state & any) != 0; }
  [[nodiscard]] bool is_live() const { return !is(kLeft | kLost); }
  [[nodiscard]] bool is_member() const { return state >= kMembership; }
  // Of the bits in `of`, it has just these.
  [[nodiscard]] bool is_just(std::uint32_t these, std::uint32_t of) const {
    return (state & of) == these;
  }
  void set(std::uint32_t bits) { state |= bits; }
  void clear(std::uint32_t bits) { state &= ~bits; }
};
static_assert(sizeof(Participant) == 8);  // a large cluster has one per worker

// Members of live synchronisations, as lists of cells in one pool.
class MemberLists {
 public:
  static constexpr std::uint32_t kSeats = 4;  // in a cell

  // Room for so many cells at once is reserved; more are taken as needed.
  explicit MemberLists(std::size_t cells) { cells_.reserve(cells); }

  // Returns the first cell of the list.
  std::uint32_t hold(std::span<const Member> members) {
    std::uint32_t head = kEnd;
    while (!members.empty()) {
      const auto taken = std::min<std::size_t>(kSeats, members.size());
      const auto number = take();
      Cell& cell = cells_[number];
      for (std::size_t i = 0; i < taken; ++i) cell.seats[i] = PackedMember(members[i]);
      if (taken < kSeats) cell.seats[taken] = PackedMember({.worker = PackedMember::kNobody});
      cell.next = std::exchange(head, number);
      members = members.subspan(taken);
    }
    return head;
  }
  // Calls visit(member) for each member of the list and gives it back.
  template <typename Visit>
  void release(std::uint32_t head, Visit&& visit) {
    while (head != kEnd) {
      Cell& cell = cells_[head];
      for (std::size_t i = 0; i < kSeats && cell.seats[i].worker() != PackedMember::kNobody; ++i)
        visit(cell.seats[i]);
      const auto next = std::exchange(cell.next, free_);
      free_ = std::exchange(head, next);
    }
  }
  void expect(std::uint32_t cell) const { prefetch(&cells_[cell]); }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  struct Cell {
    std::array<PackedMember, kSeats> seats;  // the first nobody ends them
    std::uint32_t next;
  };

  std::uint32_t take() {
    if (free_ == kEnd) {
      cells_.emplace_back();
      return static_cast<std::uint32_t>(cells_.size() - 1);
    }
    const auto taken = free_;
    free_ = cells_[taken].next;
    if (free_ != kEnd) expect(free_);
    return taken;
  }

  std::vector<Cell> cells_;
  std::uint32_t free_ = kEnd;
};

std::string name(WorkerId worker) { return "worker " + std::to_string(index(worker)); }
std::string name(SyncId sync) { return "synchronisation " + std::to_string(index(sync)); }
std::string name(TimerId timer) { return "timer " + std::to_string(index(timer)); }

}  // namespace

struct CheckedPolicy::State {
  State(std::unique_ptr<Policy> checked, const Topology& topology, ActionLog* action_log)
      : policy(std::move(checked)),
        log(action_log),
        participants(topology.workers() + topology.servers()),
        workers(topology.workers()),
        members((topology.workers() + topology.nodes()) / MemberLists::kSeats) {}

  std::unique_ptr<Policy> policy;
  ActionLog* log;
  std::vector<Participant> participants;
  std::uint32_t workers;
  Time now{};
  bool in_step = false;
  std::uint64_t next_sync = 0;  // the least id that is still free
  std::uint64_t next_timer = 0;
  SyncTable<std::uint32_t> live;  // first cell of its members
  MemberLists members;
  SyncTable<Time, TimerId> timers;

  template <typename Id>
  [[noreturn]] void broken(const char* promise, Id who, const char* what) const {
    throw ContractError(std::string(promise) + " broken at " + std::to_string(now.count()) +
                        " ns: " + name(who) + " " + what);
  }
  template <typename Id>
  void require(bool kept, const char* promise, Id who, const char* what) const {
    if (!kept) [[unlikely]]
      broken(promise, who, what);
  }
  [[nodiscard]] Participant& worker(WorkerId id) {
    require(index(id) < workers, "D6", id, "does not exist");
    return participants[index(id)];
  }

  // The two halves of each step are inlined, without what few steps need: so most save few
  // registers.
  [[gnu::always_inline]] void check_event(const Event& event) {
    if (event.at < now) [[unlikely]]
      throw ContractError("D1 broken: time goes back from " + std::to_string(now.count()) + " to " +
                          std::to_string(event.at.count()) + " ns");
    now = event.at;
    switch (event.kind) {
      case EventKind::WorkerJoined:
        require(worker(event.worker).is_live(), "D6", event.worker,
                "joins after it left or was lost");
        return;
      case EventKind::WorkerReady:
        return check_ready(event);
      case EventKind::WorkerLeft:
        return check_left(event.worker);
      case EventKind::WorkerLost:
        return check_lost(event.worker);
      case EventKind::SyncDone:
      case EventKind::SyncFailed:
        return check_end(event.sync, event.kind == EventKind::SyncFailed);
      case EventKind::TimerFired:
        return check_fired(event.timer);
    }
  }

  void check_ready(const Event& event) {
    auto& who = worker(event.worker);
    require(who.is_live(), "D6", event.worker, "reports ready after it left or was lost");
    require(!who.is(kReady), "D6", event.worker, "reports ready before it is resumed");
    require(event.step == who.next_step, "D6", event.worker, "reports a step out of turn");
    ++who.next_step;
    who.set(kReady);
  }

  void check_left(WorkerId id) {
    auto& who = worker(id);
    require(who.is_live(), "D6", id, "leaves after it left or was lost");
    require(!who.is(kReady), "D7", id, "leaves while it is blocked");
    require(!who.is_member(), "D7", id, "leaves inside a live synchronisation");
    who.set(kLeft);
  }

  void check_lost(WorkerId id) {
    auto& who = worker(id);
    require(who.is_live(), "D6", id, "is lost after it left or was lost");
    who.set(kLost);
    who.clear(kReady | kSnapshot);
  }

  [[gnu::noinline]] void check_end(SyncId sync, bool failed) {
    const auto head = live.take(sync);
    require(head.has_value(), "D3", sync, "ends but is not live");
    bool has_lost = false;
    members.release(*head, [&](PackedMember member) {
      auto& who = participants[index(member.worker())];
      who.state -= kMembership;
      if (member.role() == Role::Blocking) who.clear(kBlocking);
      if (member.role() == Role::Passive) who.clear(kPassive);
      if (member.role() == Role::Background) {
        who.clear(kBackground);
        if (failed && who.is_live()) who.set(kSnapshot);
      }
      has_lost |= who.is(kLost);
    });
    require(has_lost || !failed, "D4", sync, "fails, but none of its members was reported lost");
    require(!has_lost || failed, "D4", sync, "is done, but one of its members was lost");
  }

  void check_fired(TimerId timer) {
    const auto* due = timers.find(timer);
    require(due != nullptr, "D5", timer, "fires but is not set");
    require(*due <= now, "D5", timer, "fires before its time");
    timers.erase(timer);
  }

  [[gnu::always_inline]] void check_actions(const Actions& actions) {
    for (const auto& action : actions.all()) {
      switch (action.kind) {
        case ActionKind::Start:
          check_start(action, actions.members(action));
          break;
        case ActionKind::Release:
          check_release(action);
          break;
        case ActionKind::SetTimer:
          require(index(action.timer) >= next_timer, "P4", action.timer, "is set a second time");
          require(action.at >= now, "P4", action.timer, "is set to a time that is over");
          next_timer = index(action.timer) + 1;
          timers.insert(action.timer, action.at);
          break;
        case ActionKind::CancelTimer:
          timers.erase(action.timer);
          break;
      }
    }
  }

  [[gnu::noinline]] void check_start(const Action& start, std::span<const Member> named) {
    require(index(start.sync) >= next_sync, "P4", start.sync, "does not have a new id");
    next_sync = index(start.sync) + 1;
    double weights = 0;
    for (const auto& member : named) {
      check_member(member);
      if (member.role != Role::Server) weights += member.weight;
    }
    for (const auto& member : named) participants[index(member.worker)].clear(kNamed);
    require(std::abs(weights - 1) <= 1e-9, "P7", start.sync, "has weights that do not sum to 1");
    live.insert(start.sync, members.hold(named));
  }

  void check_member(const Member& member) {
    const auto id = member.worker;
    require(index(id) < participants.size(), "P7", id, "does not exist");
    auto& who = participants[index(id)];
    if (member.role == Role::Blocking && index(id) < workers &&
        who.is_just(kReady, kReady | kBlocking | kNamed | kLeft | kLost)) [[likely]] {
      who.state += kMembership;
      return who.set(kBlocking | kNamed);
    }
    require((member.role == Role::Server) == (index(id) >= workers), "P7", id,
            "has a role that is for servers only, or for workers only");
    require(!who.is(kNamed), "P7", id, "is twice in one synchronisation");
    who.set(kNamed);
    who.state += kMembership;
    switch (member.role) {
      case Role::Blocking:
        require(who.is_live(), "P6", id, "is to block, but left or was lost");
        require(who.is(kReady), "P2", id, "is to block, but did not report ready");
        require(!who.is(kBlocking), "P2", id, "blocks in two live synchronisations");
        break;
      case Role::Background:
        require(who.is_live(), "P6", id, "is to average, but left or was lost");
        require(who.is(kSnapshot), "P2", id, "has no unused snapshot to average in the background");
        require(!who.is(kBackground), "P2", id, "averages twice in the background");
        who.set(kBackground);
        who.clear(kSnapshot);
        break;
      case Role::Passive:
        require(!who.is(kLost), "P6", id, "is to serve, but was lost");
        require(!who.is(kPassive), "P2", id, "serves two live synchronisations");
        who.set(kPassive);
        break;
      case Role::Forwarder:
        require(member.weight == 0, "P7", id, "forwards with a weight");
        [[fallthrough]];
      case Role::Source:
        require(!who.is(kLost), "P6", id, "is to be read, but was lost");
        break;
      case Role::Server:
        break;
    }
  }

  void check_release(const Action& release) {
    const auto id = release.worker;
    require(index(id) < workers, "P5", id, "does not exist");
    auto& who = participants[index(id)];
    require(who.is(kReady), "P5", id, "is released, but is not ready");
    require(!who.is(kBlocking), "P5", id, "is released inside a live synchronisation");
    who.clear(kReady);
    if (release.snapshot) who.set(kSnapshot);
  }
};

CheckedPolicy::CheckedPolicy(std::unique_ptr<Policy> policy, const Topology& topology,
                             ActionLog* log)
    : state_(std::make_unique<State>(std::move(policy), topology, log)) {}

CheckedPolicy::~CheckedPolicy() = default;

void CheckedPolicy::step(const Event& event, Actions& out) {
  auto& state = *state_;
  if (state.in_step) throw ContractError("D1 broken: a step begins inside a step");
  state.in_step = true;
  state.check_event(event);
  state.policy->step(event, out);
  state.check_actions(out);
  if (state.log) state.log->record(event, out);
  state.in_step = false;
}

void CheckedPolicy::expect(WorkerId worker, unsigned step) const {
  if (step == 0) prefetch(&state_->participants[index(worker)]);
  state_->policy->expect(worker, step);
}

void CheckedPolicy::expect_end(SyncId sync, unsigned step) const {
  if (step == 0) state_->live.expect(sync);
  if (step == 1)
    if (const auto* head = state_->live.find(sync)) state_->members.expect(*head);
  state_->policy->expect_end(sync, step);
}

std::uint32_t CheckedPolicy::waiting() const {
  std::uint32_t count = 0;
  for (const auto& who : state_->participants) count += who.is(kReady) && !who.is_member() ? 1 : 0;
  return count;
}

std::string CheckedPolicy::stuck() const {
  const auto& state = *state_;
  std::string text = std::to_string(waiting()) + " of " + std::to_string(state.workers) +
                     " workers wait in no live synchronisation";
  std::uint32_t named = 0;
  for (std::uint32_t w = 0; w < state.workers && named < 8; ++w) {
    const auto& who = state.participants[w];
    if (!who.is(kReady) || who.is_member()) continue;
    text += (named++ == 0 ? ": " : ", ") + name(WorkerId{w}) + " since step " +
            std::to_string(who.next_step - 1);
  }
  return text + "; " + std::to_string(state.live.size()) + " synchronisations and " +
         std::to_string(state.timers.size()) + " timers are live at " +
         std::to_string(state.now.count()) + " ns";
}

}  // namespace cohort
