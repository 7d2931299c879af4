#include "policies/checked_policy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <functional>

#include "policies/errors.h"
#include "policies/registry.h"

namespace cohort {
namespace {

using Answer = std::function<void(Actions&)>;

// Answers each event with the next of a list of answers; with nothing when the list is over.
class Scripted final : public Policy {
 public:
  explicit Scripted(std::deque<Answer> answers) : answers_(std::move(answers)) {}
  void step(const Event&, Actions& out) override {
    if (answers_.empty()) return;
    answers_.front()(out);
    answers_.pop_front();
  }

 private:
  std::deque<Answer> answers_;
};

void nothing(Actions&) {}

Answer releases(std::uint32_t worker) {
  return [=](Actions& out) { out.release(WorkerId{worker}); };
}

// A group mean of equal weights.
Answer starts(std::uint64_t id, std::vector<std::uint32_t> workers, Role role = Role::Blocking) {
  return [=](Actions& out) {
    out.start(SyncId{id}, SyncKind::GroupMean);
    for (const auto w : workers)
      out.add_member(WorkerId{w}, role, 1.0 / static_cast<double>(workers.size()));
  };
}

Event ready(std::uint32_t worker, std::uint64_t step) {
  return Event::ready(Time{0}, WorkerId{worker}, step, Time{1});
}
Event done(std::uint64_t id) { return Event::done(Time{0}, SyncId{id}, Time{0}); }
Event failed(std::uint64_t id) { return Event::failed(Time{0}, SyncId{id}); }
Event lost(std::uint32_t worker) { return Event::lost(Time{0}, WorkerId{worker}); }
Event left(std::uint32_t worker) { return Event::left(Time{0}, WorkerId{worker}); }

// The promise that the last of `events` breaks, for 3 workers and 1 server; "none" when all are
// kept. The earlier events must break none.
std::string broken_by_last(std::deque<Answer> answers, const std::vector<Event>& events) {
  CheckedPolicy policy(std::make_unique<Scripted>(std::move(answers)), Topology(1, 3, 1));
  Actions out;
  for (std::size_t i = 0; i < events.size(); ++i) {
    out.clear();
    try {
      policy.step(events[i], out);
    } catch (const ContractError& error) {
      REQUIRE_MESSAGE(i + 1 == events.size(), error.what());
      return std::string(error.what()).substr(0, 2);
    }
  }
  return "none";
}

}  // namespace

TEST_CASE("checked policy: D1 time never decreases") {
  const auto later = Event::joined(Time{5}, WorkerId{0});
  const auto earlier = Event::joined(Time{4}, WorkerId{1});
  CHECK(broken_by_last({}, {later, earlier}) == "D1");
  CHECK(broken_by_last({}, {later, later}) == "none");
}

TEST_CASE("checked policy: D1 a step does not begin inside a step") {
  CheckedPolicy* self = nullptr;
  auto scripted = std::make_unique<Scripted>(
      std::deque<Answer>{[&](Actions& out) { self->step(ready(1, 0), out); }});
  CheckedPolicy policy(std::move(scripted), Topology(1, 2));
  self = &policy;
  Actions out;
  CHECK_THROWS_WITH_AS(policy.step(ready(0, 0), out), "D1 broken: a step begins inside a step",
                       ContractError);
}

TEST_CASE("checked policy: D3 a synchronisation ends once, and only if it was started") {
  CHECK(broken_by_last({}, {done(0)}) == "D3");
  CHECK(broken_by_last({starts(0, {0}), releases(0)}, {ready(0, 0), done(0)}) == "none");
  CHECK(broken_by_last({starts(0, {0}), releases(0)}, {ready(0, 0), done(0), done(0)}) == "D3");
}

TEST_CASE(
    "checked policy: D4 a synchronisation fails after, and only after, the loss of a member") {
  const std::deque<Answer> answers = {nothing, starts(0, {0, 1})};
  CHECK(broken_by_last(answers, {ready(0, 0), ready(1, 0), failed(0)}) == "D4");
  CHECK(broken_by_last(answers, {ready(0, 0), ready(1, 0), lost(2), failed(0)}) == "D4");
  CHECK(broken_by_last(answers, {ready(0, 0), ready(1, 0), lost(1), done(0)}) == "D4");
  CHECK(broken_by_last(answers, {ready(0, 0), ready(1, 0), lost(1), failed(0)}) == "none");
}

TEST_CASE("checked policy: D5 a timer fires once, in time, unless cancelled") {
  const Answer sets = [](Actions& out) { out.set_timer(TimerId{0}, Time{10}); };
  const Answer cancels = [](Actions& out) { out.cancel_timer(TimerId{0}); };
  const auto early = Event::fired(Time{9}, TimerId{0});
  const auto due = Event::fired(Time{10}, TimerId{0});
  CHECK(broken_by_last({sets}, {ready(0, 0), early}) == "D5");
  CHECK(broken_by_last({sets}, {ready(0, 0), due}) == "none");
  CHECK(broken_by_last({sets}, {ready(0, 0), due, due}) == "D5");
  CHECK(broken_by_last({sets, cancels}, {ready(0, 0), ready(1, 0), due}) == "D5");
}

TEST_CASE("checked policy: D6 steps are reported in turn, only when resumed, by live workers") {
  CHECK(broken_by_last({}, {ready(3, 0)}) == "D6");
  CHECK(broken_by_last({}, {ready(0, 1)}) == "D6");
  CHECK(broken_by_last({}, {ready(0, 0), ready(0, 1)}) == "D6");
  CHECK(broken_by_last({releases(0)}, {ready(0, 0), ready(0, 0)}) == "D6");
  CHECK(broken_by_last({releases(0)}, {ready(0, 0), ready(0, 1)}) == "none");
  CHECK(broken_by_last({}, {left(0), ready(0, 0)}) == "D6");
  CHECK(broken_by_last({}, {lost(0), ready(0, 0)}) == "D6");
  CHECK(broken_by_last({}, {lost(0), left(0)}) == "D6");
  CHECK(broken_by_last({}, {left(0), lost(0)}) == "D6");
  CHECK(broken_by_last({}, {left(0), Event::joined(Time{0}, WorkerId{0})}) == "D6");
}

TEST_CASE("checked policy: D7 a worker leaves only when it is neither blocked nor inside") {
  CHECK(broken_by_last({}, {ready(0, 0), left(0)}) == "D7");
  const Answer reads_one = [](Actions& out) {
    out.start(SyncId{0}, SyncKind::NeighbourMix);
    out.add_member(WorkerId{0}, Role::Blocking, 0.5);
    out.add_member(WorkerId{1}, Role::Source, 0.5);
  };
  CHECK(broken_by_last({reads_one}, {ready(0, 0), left(1)}) == "D7");
  CHECK(broken_by_last({reads_one, releases(0)}, {ready(0, 0), done(0), left(1)}) == "none");
}

TEST_CASE("checked policy: P2 a worker blocks in one synchronisation, after its ready") {
  CHECK(broken_by_last({starts(0, {0, 1})}, {ready(0, 0)}) == "P2");
  CHECK(broken_by_last({starts(0, {0}), starts(1, {0, 1})}, {ready(0, 0), ready(1, 0)}) == "P2");
  CHECK(broken_by_last({releases(0), starts(0, {0, 1})}, {ready(0, 0), ready(1, 0)}) == "P2");
}

TEST_CASE("checked policy: P2 a background member needs a snapshot that no start has used") {
  const Answer snapshots = [](Actions& out) { out.release_with_snapshot(WorkerId{0}); };
  const auto averages = starts(0, {0}, Role::Background);
  const auto averages_again = starts(1, {0}, Role::Background);
  CHECK(broken_by_last({releases(0), averages}, {ready(0, 0), ready(1, 0)}) == "P2");
  CHECK(broken_by_last({snapshots, averages}, {ready(0, 0), ready(1, 0)}) == "none");
  CHECK(broken_by_last({snapshots, averages, averages_again},
                       {ready(0, 0), ready(1, 0), done(0)}) == "P2");
  CHECK(broken_by_last({snapshots, averages, nothing, snapshots, averages_again},
                       {ready(0, 0), ready(1, 0), ready(2, 0), ready(0, 1), lost(1)}) == "P2");
}

TEST_CASE("checked policy: P2 a failed synchronisation gives the snapshots of survivors back") {
  const Answer snapshots = [](Actions& out) {
    out.release_with_snapshot(WorkerId{0});
    out.release_with_snapshot(WorkerId{1});
    starts(0, {0, 1}, Role::Background)(out);
  };
  CHECK(broken_by_last({nothing, snapshots, nothing, starts(1, {0}, Role::Background)},
                       {ready(0, 0), ready(1, 0), lost(1), failed(0)}) == "none");
  CHECK(broken_by_last({nothing, snapshots, nothing, starts(1, {1}, Role::Background)},
                       {ready(0, 0), ready(1, 0), lost(1), failed(0)}) == "P6");
}

TEST_CASE("checked policy: P2 a passive worker serves one at a time") {
  const auto pair = [](std::uint64_t id, std::uint32_t active) -> Answer {
    return [=](Actions& out) {
      out.start(SyncId{id}, SyncKind::PairMean);
      out.add_member(WorkerId{active}, Role::Blocking, 0.5);
      out.add_member(WorkerId{1}, Role::Passive, 0.5);
    };
  };
  CHECK(broken_by_last({pair(0, 0), pair(1, 2)}, {ready(0, 0), ready(2, 0)}) == "P2");
  const Answer release_and_serve = [=](Actions& out) {
    out.release(WorkerId{0});
    pair(1, 2)(out);
  };
  CHECK(broken_by_last({pair(0, 0), nothing, release_and_serve},
                       {ready(0, 0), ready(2, 0), done(0)}) == "none");
}

TEST_CASE("checked policy: P4 ids strictly increase") {
  CHECK(broken_by_last({starts(1, {0}), starts(1, {1})}, {ready(0, 0), ready(1, 0)}) == "P4");
  CHECK(broken_by_last({starts(1, {0}), starts(0, {1})}, {ready(0, 0), ready(1, 0)}) == "P4");
  CHECK(broken_by_last({starts(1, {0}), starts(7, {1})}, {ready(0, 0), ready(1, 0)}) == "none");
  const Answer sets = [](Actions& out) { out.set_timer(TimerId{3}, Time{10}); };
  CHECK(broken_by_last({sets, sets}, {ready(0, 0), ready(1, 0)}) == "P4");
}

TEST_CASE("checked policy: P4 a timer is not set to a time that is over") {
  const Answer sets = [](Actions& out) { out.set_timer(TimerId{0}, Time{10}); };
  CHECK(broken_by_last({sets}, {Event::ready(Time{11}, WorkerId{0}, 0, Time{1})}) == "P4");
}

TEST_CASE("checked policy: P5 one release follows each ready, after done") {
  CHECK(broken_by_last({releases(1)}, {ready(0, 0)}) == "P5");
  CHECK(broken_by_last({releases(0), releases(0)}, {ready(0, 0), ready(1, 0)}) == "P5");
  CHECK(broken_by_last({starts(0, {0}), releases(0)}, {ready(0, 0), ready(1, 0)}) == "P5");
  CHECK(broken_by_last({nothing, releases(0)}, {ready(0, 0), lost(0)}) == "P5");
  CHECK(broken_by_last({releases(3)}, {ready(0, 0)}) == "P5");
}

TEST_CASE("checked policy: P6 members that are gone") {
  const auto with_one_as = [](Role role) -> Answer {
    return [=](Actions& out) {
      out.start(SyncId{0}, SyncKind::GroupMean);
      out.add_member(WorkerId{0}, Role::Blocking, 1);
      out.add_member(WorkerId{1}, role, 0);
    };
  };
  for (const auto role : {Role::Passive, Role::Forwarder, Role::Source}) {
    CHECK(broken_by_last({nothing, with_one_as(role)}, {lost(1), ready(0, 0)}) == "P6");
    CHECK(broken_by_last({nothing, with_one_as(role)}, {left(1), ready(0, 0)}) == "none");
  }
  CHECK(broken_by_last({nothing, with_one_as(Role::Blocking)}, {left(1), ready(0, 0)}) == "P6");
  CHECK(broken_by_last({nothing, with_one_as(Role::Background)}, {left(1), ready(0, 0)}) == "P6");
}

TEST_CASE("checked policy: P7 members are distinct, have fitting roles and weights that sum to 1") {
  const auto group = [](std::vector<Member> members) -> std::deque<Answer> {
    return {[=](Actions& out) {
      out.start(SyncId{0}, SyncKind::GroupMean);
      for (const auto& member : members) out.add_member(member.worker, member.role, member.weight);
    }};
  };
  const Member zero{WorkerId{0}, Role::Blocking, 1};
  CHECK(broken_by_last(group({zero}), {ready(0, 0)}) == "none");
  CHECK(broken_by_last(group({}), {ready(0, 0)}) == "P7");
  CHECK(broken_by_last(group({zero, {WorkerId{0}, Role::Source, 0}}), {ready(0, 0)}) == "P7");
  CHECK(broken_by_last(group({zero, {WorkerId{1}, Role::Source, 0.1}}), {ready(0, 0)}) == "P7");
  CHECK(broken_by_last(group({{WorkerId{0}, Role::Blocking, std::nan("")}}), {ready(0, 0)}) ==
        "P7");
  CHECK(broken_by_last(group({zero, {WorkerId{3}, Role::Server, 0}}), {ready(0, 0)}) == "none");
  CHECK(broken_by_last(group({zero, {WorkerId{1}, Role::Server, 0}}), {ready(0, 0)}) == "P7");
  CHECK(broken_by_last(group({zero, {WorkerId{3}, Role::Source, 0}}), {ready(0, 0)}) == "P7");
  CHECK(broken_by_last(group({zero, {WorkerId{4}, Role::Server, 0}}), {ready(0, 0)}) == "P7");
  CHECK(broken_by_last(
            group({{WorkerId{0}, Role::Blocking, 0.9}, {WorkerId{1}, Role::Forwarder, 0.1}}),
            {ready(0, 0)}) == "P7");
}

TEST_CASE("checked policy: says who is stuck") {
  CheckedPolicy policy(std::make_unique<Scripted>(std::deque<Answer>{releases(1)}), Topology(1, 3));
  Actions out;
  policy.step(ready(1, 0), out);
  CHECK(policy.waiting() == 0);
  out.clear();
  policy.step(Event::ready(Time{7}, WorkerId{1}, 1, Time{1}), out);
  CHECK(policy.waiting() == 1);
  CHECK(policy.stuck() ==
        "1 of 3 workers wait in no live synchronisation: worker 1 since step 1; 0 synchronisations "
        "and 0 timers are live at 7 ns");
}

TEST_CASE("checked policy: the log sees every event with its actions") {
  struct Counts final : ActionLog {
    std::size_t events = 0;
    std::size_t actions = 0;
    void record(const Event&, const Actions& answer) override {
      ++events;
      actions += answer.all().size();
    }
  } log;
  CheckedPolicy policy(std::make_unique<Scripted>(std::deque<Answer>{starts(0, {0}), releases(0)}),
                       Topology(1, 2), &log);
  Actions out;
  for (const auto& event : {ready(0, 0), done(0), ready(1, 0)}) {
    out.clear();
    policy.step(event, out);
  }
  CHECK(log.events == 3);
  CHECK(log.actions == 2);
}

}  // namespace cohort
