// The group generator told step by step: what it answers, in which order, and what it refuses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/codec.h"
#include "tests/runtime/random_job.h"
#include "traces/run_log.h"

namespace cohort {
namespace {

constexpr Time kBegin{1'000'000};

std::string line_of(const message::Release& m) {
  return fmt::format("release {}{}{}", m.step, m.snapshot ? " snapshot" : "",
                     m.last ? " last" : "");
}
std::string line_of(const message::Start& m) {
  std::string who;
  for (const auto& member : m.members) who += fmt::format(" {}", index(member.worker));
  const bool mean = m.kind == SyncKind::GroupMean;
  return fmt::format("start {} {}{}{}", index(m.sync), name_of(m.kind), who,
                     !mean      ? std::string()
                     : m.create ? fmt::format(" create {}", static_cast<int>(m.communicator))
                                : fmt::format(" on {}", static_cast<int>(m.communicator)));
}
std::string line_of(const message::Drop& m) {
  return fmt::format("drop {}", static_cast<int>(m.communicator));
}
std::string line_of(const message::Abort& m) { return fmt::format("abort {}", index(m.sync)); }
std::string line_of(const message::Rendezvous& m) {
  return fmt::format("rendezvous {}", static_cast<int>(m.communicator));
}

// A run whose members are the test's to play.
struct Play final : Outbox {
  explicit Play(RunSetup setup) : generator(setup, *this, &log) { generator.begin(kBegin); }

  void send(std::uint32_t member, const Message& message) override {
    std::visit(
        [&](const auto& parts) {
          if constexpr (requires { line_of(parts); })
            lines += fmt::format("{}: {}\n", member, line_of(parts));
        },
        message);
  }
  void set_timer(TimerId timer, Time at) override { timers[index(timer)] = at; }
  void cancel_timer(TimerId timer) override { timers.erase(index(timer)); }

  // What members were told since the last call.
  std::string told() { return std::exchange(lines, ""); }
  void ready(std::uint32_t member, std::uint64_t step) {
    generator.receive(member, message::Ready{step, now, now + Time{5}}, now += Time{10});
  }
  void done(std::uint32_t member, std::uint64_t sync, double before = 1, double after = 1) {
    generator.receive(member, report(sync, before, after), now += Time{10});
  }
  message::Done report(std::uint64_t sync, double before, double after) const {
    return {SyncId{sync},
            now,
            now,
            now + Time{3},
            Time{},
            {{before, {static_cast<float>(before)}}, {after, {static_cast<float>(after)}}}};
  }
  void failed(std::uint32_t member, std::uint64_t sync) {
    generator.receive(member, message::Failed{SyncId{sync}, "the peer is gone"}, now += Time{10});
  }
  void lose(std::uint32_t member) {
    generator.lose(member, fmt::format("rank {}: killed", member), now += Time{10});
  }
  // The only timer that is set.
  void fire() {
    REQUIRE(timers.size() == 1);
    const auto [timer, at] = *timers.begin();
    timers.clear();
    generator.fire(TimerId{timer}, now = at);
  }
  [[nodiscard]] std::string failure() { return generator.record().failure; }

  KeptLog log;
  std::string lines;
  std::map<std::uint64_t, Time> timers;
  Time now = kBegin;
  GroupGenerator generator;
};

RunSetup all_reduce(std::uint32_t workers, std::uint64_t steps = 2) {
  return plain_setup("all-reduce", {workers}, steps);
}

RunSetup with(OnLoss on_loss, RunSetup setup) {
  setup.on_loss = on_loss;
  return setup;
}

}  // namespace

TEST_CASE("group generator: a run begins with a release of every worker") {
  Play play(all_reduce(2));
  CHECK(play.told() == "0: release 0\n1: release 0\n");
}

TEST_CASE("group generator: a group starts when all are ready and is done when all report") {
  Play play(all_reduce(2));
  (void)play.told();
  play.ready(1, 0);
  CHECK(play.told() == "");
  play.ready(0, 0);
  CHECK(play.told() == "0: start 0 group-mean 0 1 create 0\n1: start 0 group-mean 0 1 create 0\n");
  play.done(0, 0);
  CHECK(play.told() == "");
  play.done(1, 0);
  CHECK(play.told() == "0: release 1\n1: release 1\n");
}

TEST_CASE("group generator: the second group of the same members uses their communicator") {
  Play play(all_reduce(2));
  for (const std::uint64_t step : {0U, 1U}) {
    (void)play.told();
    for (const auto worker : {0U, 1U}) play.ready(worker, step);
    if (step == 0)
      for (const auto worker : {0U, 1U}) play.done(worker, 0);
  }
  CHECK(play.told() == "0: start 1 group-mean 0 1 on 0\n1: start 1 group-mean 0 1 on 0\n");
}

TEST_CASE("group generator: after its quota a worker is told so, and the run ends with the last") {
  Play play(all_reduce(2, 1));
  for (const auto worker : {0U, 1U}) play.ready(worker, 0);
  (void)play.told();
  for (const auto worker : {0U, 1U}) play.done(worker, 0);
  CHECK(play.told() == "0: release 1 last\n1: release 1 last\n");
  CHECK(play.generator.ended());
  CHECK(play.generator.record().elapsed == play.now - kBegin);
}

TEST_CASE(
    "group generator: the policy hears of the transfer from the first beginning to the last end") {
  Play play(all_reduce(2, 1));
  for (const auto worker : {0U, 1U}) play.ready(worker, 0);
  for (const auto worker : {0U, 1U}) {
    auto report = play.report(0, 1, 1);
    report.began = kBegin + Time{100U + 10 * worker};
    report.ended = kBegin + Time{150U + 10 * worker};
    play.generator.receive(worker, report, play.now += Time{10});
  }
  const auto& events = play.log.events();
  const auto done = std::ranges::find(events, EventKind::SyncDone, &Event::kind);
  REQUIRE(done != events.end());
  CHECK(done->transfer == Time{60});
}

TEST_CASE("group generator: what the first member draws goes to the others, once") {
  Play play(all_reduce(3));
  for (const auto worker : {0U, 1U, 2U}) play.ready(worker, 0);
  (void)play.told();
  const message::Rendezvous drawn{CommunicatorId{0}, {1, 2}};
  CHECK_THROWS_AS(play.generator.receive(1, drawn, play.now), FrameError);
  play.generator.receive(0, drawn, play.now);
  CHECK(play.told() == "1: rendezvous 0\n2: rendezvous 0\n");
  CHECK_THROWS_AS(play.generator.receive(0, drawn, play.now), FrameError);
}

TEST_CASE(
    "group generator: a communicator that the cache drops is dropped at its members, before "
    "the next is made") {
  Options given;
  given.set("phases", Phases{{{0, 1}}, {{1, 2}}});
  auto setup = plain_setup("static", {3}, 2, given);
  setup.communicator_cache = 1;
  Play play(setup);
  for (const auto worker : {0U, 1U, 2U}) play.ready(worker, 0);
  for (const auto worker : {0U, 1U}) play.done(worker, 0);
  play.ready(2, 1);
  (void)play.told();
  play.ready(1, 1);
  CHECK(play.told() ==
        "0: drop 0\n1: drop 0\n"
        "1: start 1 group-mean 1 2 create 1\n2: start 1 group-mean 1 2 create 1\n");
}

TEST_CASE("group generator: servers take part in exchanges and hear nothing of steps") {
  Play play(plain_setup("parameter-server", {2}, 1));
  CHECK(play.told() == "0: release 0\n1: release 0\n");
  play.ready(0, 0);
  CHECK(play.told() == "0: start 0 server-push 0 2\n2: start 0 server-push 0 2\n");
}

TEST_CASE("group generator: a worker with its quota leaves when its live exchange is over") {
  Play play(plain_setup("ad-psgd", {2}, 1));
  play.ready(0, 0);
  (void)play.told();
  play.ready(1, 0);
  CHECK(play.told() == "1: release 1 last\n");
  const auto left = [&] {
    return std::ranges::count(play.log.events(), EventKind::WorkerLeft, &Event::kind);
  };
  CHECK(left() == 0);
  for (const auto worker : {0U, 1U}) play.done(worker, 0);
  CHECK(left() == 2);
  CHECK(play.generator.ended());
}

TEST_CASE("group generator: messages out of turn are refused and change nothing") {
  Play play(all_reduce(2));
  play.ready(0, 0);
  (void)play.told();
  CHECK_THROWS_AS(play.ready(0, 1), FrameError);  // waits
  CHECK_THROWS_AS(play.ready(1, 1), FrameError);  // step 0 comes first
  CHECK_THROWS_AS(play.done(0, 0), FrameError);   // nothing is live
  CHECK_THROWS_AS(play.failed(0, 7), FrameError);
  CHECK_THROWS_AS(play.generator.receive(0, message::Prepared{}, play.now), FrameError);
  CHECK_THROWS_AS(play.generator.receive(1, message::Ready{0, kBegin, kBegin - Time{1}}, play.now),
                  FrameError);
  CHECK(play.told() == "");
  play.ready(1, 0);
  CHECK(play.told() != "");
  play.done(0, 0);
  CHECK_THROWS_AS(play.done(0, 0), FrameError);  // twice
}

TEST_CASE("group generator: a step of a server, or a mean without its samples, is refused") {
  Play play(plain_setup("parameter-server", {2}, 1));
  CHECK_THROWS_AS(play.ready(2, 0), FrameError);
  Play means(all_reduce(2));
  for (const auto worker : {0U, 1U}) means.ready(worker, 0);
  auto report = means.report(0, 1, 1);
  report.samples.pop_back();
  CHECK_THROWS_AS(means.generator.receive(0, report, means.now), FrameError);
}

TEST_CASE("group generator: a lost member ends the run, named with its group") {
  Play play(all_reduce(3));
  for (const auto worker : {0U, 1U, 2U}) play.ready(worker, 0);
  play.lose(1);
  CHECK(play.generator.ended());
  CHECK(play.failure() ==
        "worker 1 was lost after 0.000 s, in synchronisation 0 of worker 0, worker 1, worker 2: "
        "rank 1: killed");
  CHECK(play.generator.record().syncs.at(0).failed);
}

TEST_CASE("group generator: one that computed is lost in no synchronisation") {
  Play play(all_reduce(3));
  play.lose(2);
  CHECK(play.failure() == "worker 2 was lost after 0.000 s, in no synchronisation: rank 2: killed");
}

TEST_CASE("group generator: with continue survivors abort, acknowledge, and go on without it") {
  Play play(with(OnLoss::Continue, all_reduce(3)));
  for (const auto worker : {0U, 1U, 2U}) play.ready(worker, 0);
  play.done(0, 0);
  (void)play.told();
  play.lose(1);
  CHECK(play.told() == "2: abort 0\n");  // 0 has reported
  play.failed(2, 0);
  CHECK(play.told() == "0: start 1 group-mean 0 2 create 1\n2: start 1 group-mean 0 2 create 1\n");
  const auto& events = play.log.events();
  const auto lost = std::ranges::find(events, EventKind::WorkerLost, &Event::kind);
  CHECK(std::find_if(lost, events.end(), [](const Event& event) {
          return event.kind == EventKind::SyncFailed;
        }) != events.end());
}

TEST_CASE("group generator: a failure that is reported before its loss waits for it") {
  Play play(with(OnLoss::Continue, all_reduce(3)));
  for (const auto worker : {0U, 1U, 2U}) play.ready(worker, 0);
  (void)play.told();
  play.failed(0, 0);
  CHECK(play.told() == "1: abort 0\n2: abort 0\n");
  play.failed(2, 0);
  CHECK(play.told() == "");
  play.lose(1);
  CHECK(play.told() == "0: start 1 group-mean 0 2 create 1\n2: start 1 group-mean 0 2 create 1\n");
}

TEST_CASE("group generator: a failure without a loss ends the run after a while") {
  Play play(with(OnLoss::Continue, all_reduce(2)));
  for (const auto worker : {0U, 1U}) play.ready(worker, 0);
  for (const auto worker : {0U, 1U}) play.failed(worker, 0);
  CHECK_FALSE(play.generator.ended());
  play.fire();
  CHECK(play.failure() ==
        "synchronisation 0 of worker 0, worker 1 failed although no member was lost: worker 0: "
        "the peer is gone");
}

TEST_CASE("group generator: a survivor that does not acknowledge an abort ends the run, named") {
  Play play(with(OnLoss::Continue, all_reduce(3)));
  for (const auto worker : {0U, 1U, 2U}) play.ready(worker, 0);
  play.lose(1);
  play.failed(0, 0);
  play.fire();
  CHECK(play.failure() ==
        "a failed synchronisation did not end in time: worker 2 did not report on "
        "synchronisation 0 of worker 0, worker 1, worker 2");
}

TEST_CASE("group generator: a lost server ends the run although workers may be lost") {
  Play play(with(OnLoss::Continue, plain_setup("parameter-server", {2}, 1)));
  play.lose(2);
  CHECK(play.failure() == "server 0 was lost after 0.000 s, in no synchronisation: rank 2: killed");
}

TEST_CASE("group generator: the last worker's loss ends the run as failed") {
  Play play(with(OnLoss::Continue, all_reduce(1)));
  play.lose(0);
  CHECK(play.failure().starts_with("all workers were lost; worker 0 was lost"));
}

TEST_CASE("group generator: a total of steps stops the run at once, the next are not begun") {
  auto setup = all_reduce(2);
  setup.steps_per_worker.reset();
  setup.total_steps = 3;
  Play play(setup);
  for (const std::uint64_t step : {0U, 1U}) {
    for (const auto worker : {0U, 1U}) play.ready(worker, step);
    (void)play.told();
    for (const auto worker : {0U, 1U}) play.done(worker, step);
  }
  CHECK(play.told() == "");
  CHECK(play.generator.ended());
  CHECK(play.failure() == "");
}

TEST_CASE("group generator: a stop lets what is live end, and starts nothing more") {
  Play play(all_reduce(2));
  for (const auto worker : {0U, 1U}) play.ready(worker, 0);
  play.generator.stop("", play.now);
  (void)play.told();
  CHECK_FALSE(play.generator.ended());
  for (const auto worker : {0U, 1U}) play.done(worker, 0);
  CHECK(play.told() == "");
  CHECK(play.generator.ended());
  CHECK(play.failure() == "");
}

TEST_CASE("group generator: a stop does not wait for ever") {
  Play play(all_reduce(2));
  for (const auto worker : {0U, 1U}) play.ready(worker, 0);
  play.generator.stop("", play.now);
  play.done(0, 0);
  play.fire();
  CHECK(play.failure() ==
        "the last synchronisations did not end in time: worker 1 did not report on "
        "synchronisation 0 of worker 0, worker 1");
}

TEST_CASE("group generator: an interrupted run says so") {
  Play play(all_reduce(2));
  play.generator.stop("interrupted", play.now);
  CHECK(play.generator.ended());
  CHECK(play.failure() == "interrupted");
}

TEST_CASE("group generator: a wrong mean ends the run and names whose it is") {
  Play play(all_reduce(2));
  for (const auto worker : {0U, 1U}) play.ready(worker, 0);
  play.done(0, 0, 1, 2);
  play.done(1, 0, 3, 2.001);
  CHECK(play.failure() ==
        "the mean that worker 1 has from synchronisation 0 of worker 0, worker 1 is off by "
        "0.00033, relative; at most 1e-05 is rounding");
}

TEST_CASE("group generator: a right mean is recorded with its error") {
  Play play(all_reduce(2));
  for (const auto worker : {0U, 1U}) play.ready(worker, 0);
  play.done(0, 0, 1, 2);
  play.done(1, 0, 3, 2.000003);
  CHECK(play.failure() == "");
  CHECK(1e6 * play.generator.record().syncs.at(0).largest_error.value() ==
        doctest::Approx(1).epsilon(0.05));  // within 0.1
}

TEST_CASE("group generator: who is stuck is told by member and group") {
  Play play(all_reduce(2));
  for (const auto worker : {0U, 1U}) play.ready(worker, 0);
  play.done(0, 0);
  CHECK(play.generator.stuck().ends_with(
      "worker 1 did not report on synchronisation 0 of worker 0, worker 1"));
}

TEST_CASE("group generator: a step's times are kept from its beginning to the next one's") {
  Play play(all_reduce(1));
  play.generator.receive(0, message::Ready{0, kBegin + Time{3}, kBegin + Time{8}},
                         kBegin + Time{9});
  play.generator.receive(0, message::Ready{1, kBegin + Time{12}, kBegin + Time{17}},
                         kBegin + Time{19});
  const auto& steps = play.generator.record().steps;
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].began == Time{3});
  CHECK(steps[0].ended == Time{8});
  CHECK(steps[0].arrived == Time{9});
  CHECK(steps[0].resumed == Time{12});
  CHECK(steps[1].resumed == Time{19});
}

}  // namespace cohort
