#include "runtime/live_operations.h"

#include <doctest/doctest.h>

#include "runtime/host_vectors.h"

namespace cohort {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Texts = std::vector<std::string>;

enum class End : std::uint8_t { None, Well, Broken };

// Says what it is asked for; an all-reduce ends when the test says so.
class FakeTransport : public Transport {
 public:
  explicit FakeTransport(bool ordered) : ordered_(ordered) {}

  Bytes rendezvous() override { return {7}; }
  void connect(std::span<const std::uint32_t>, std::span<const std::uint8_t>) override {}
  std::unique_ptr<Request> create(CommunicatorId id, std::span<const std::uint32_t>,
                                  std::span<const std::uint8_t> rendezvous) override {
    note("create", id);
    if (!rendezvous.empty()) calls.back() += " at " + std::to_string(rendezvous.front());
    return std::make_unique<Waiting>(always_);
  }
  void destroy(CommunicatorId id) override { note("destroy", id); }
  std::unique_ptr<Request> all_reduce(CommunicatorId id, const float*, float*,
                                      std::size_t) override {
    note("all-reduce", id);
    return std::make_unique<Waiting>(ends[id]);
  }
  std::unique_ptr<Request> exchange(SyncId, std::span<const Transfer>) override {
    return std::make_unique<Waiting>(always_);
  }
  bool ordered() const override { return ordered_; }

  Texts calls;
  std::map<CommunicatorId, End> ends;  // of the all-reduces

 private:
  class Waiting : public Request {
   public:
    explicit Waiting(const End& end) : end_(end) {}
    bool test() override {
      if (end_ == End::Broken) throw SyncFailure("a broken wire");
      return end_ == End::Well;
    }

   private:
    const End& end_;
  };

  void note(const std::string& call, CommunicatorId id) {
    calls.push_back(call + " " + std::to_string(static_cast<std::uint32_t>(id)));
  }

  bool ordered_;
  const End always_ = End::Well;
};

struct FixtureOptions {
  bool ordered = false;
  bool rendezvous = false;
  std::uint32_t member = 0;
};

// Member 0 or 1 of a run of two workers.
struct Fixture {
  explicit Fixture(const FixtureOptions& options)
      : transport(options.ordered),
        replica({.member = options.member,
                 .workers = 2,
                 .ranks = {0, 1},
                 .entries = 4,
                 .rendezvous = {}},
                vectors),
        live(replica, transport, options.rendezvous,
             {.now = [this] { return ++clock; },
              .send = [this](const Message& message) { sent.push_back(message); },
              .await_snapshots = [this] { transport.calls.emplace_back("snapshots"); }}) {
    replica.snapshot = Buffer(vectors, 4);
  }

  // A mean of both workers on communicator `number`, which it makes, begun by synchronisation
  // `number`.
  void start(std::uint32_t number, Role own = Role::Blocking, Time arrived = {}) {
    message::Start start{
        .sync = SyncId{number},
        .members = {{WorkerId{0}, Role::Blocking, 0.5}, {WorkerId{1}, Role::Blocking, 0.5}},
        .communicator = CommunicatorId{number},
        .create = true};
    start.members[replica.prepare().member].role = own;
    live.start(start, arrived);
  }
  void meet(std::uint32_t number, std::uint8_t where) {
    live.meet({CommunicatorId{number}, {where}});
  }
  void end(std::uint32_t number, End how = End::Well) {
    transport.ends[CommunicatorId{number}] = how;
  }

  // What was sent since the last look: "done 1", "failed 1: why", "rendezvous 1 at 7".
  Texts take_sent() {
    Texts texts;
    for (const auto& message : std::exchange(sent, {})) texts.push_back(text_of(message));
    return texts;
  }
  static std::string text_of(const Message& message) {
    if (const auto* done = std::get_if<message::Done>(&message))
      return "done " + std::to_string(index(done->sync));
    if (const auto* failed = std::get_if<message::Failed>(&message))
      return "failed " + std::to_string(index(failed->sync)) + ": " + failed->reason;
    const auto& drawn = std::get<message::Rendezvous>(message);
    return "rendezvous " + std::to_string(static_cast<std::uint32_t>(drawn.communicator)) + " at " +
           std::to_string(drawn.bytes.front());
  }

  Time clock{};
  std::vector<Message> sent;
  HostVectors vectors;
  FakeTransport transport;
  Replica replica;
  LiveOperations live;
};

TEST_CASE("live operations: side by side, one that waits holds no other up") {
  Fixture fixture({});
  fixture.start(1);
  fixture.start(2);
  CHECK(fixture.live.poll());
  CHECK(fixture.transport.calls == Texts{"create 1", "all-reduce 1", "create 2", "all-reduce 2"});
  fixture.end(2);
  CHECK(fixture.live.poll());
  CHECK(fixture.take_sent() == Texts{"done 2"});
  CHECK_FALSE(fixture.live.empty());
}

TEST_CASE("live operations: an ordered transport takes one at a time, in the order of the starts") {
  Fixture fixture({.ordered = true});
  fixture.start(1);
  fixture.start(2);
  fixture.end(2);
  CHECK(fixture.live.poll());
  CHECK_FALSE(fixture.live.poll());
  CHECK(fixture.transport.calls == Texts{"create 1", "all-reduce 1"});
  fixture.end(1);
  CHECK(fixture.live.poll());
  CHECK(fixture.take_sent() == Texts{"done 1", "done 2"});
  CHECK(fixture.live.empty());
}

TEST_CASE("live operations: what ends is reported once, with the time at which its start came") {
  Fixture fixture({});
  fixture.start(1, Role::Blocking, Time{17});
  fixture.end(1);
  CHECK(fixture.live.poll());
  REQUIRE(fixture.sent.size() == 1);
  CHECK(std::get<message::Done>(fixture.sent[0]).received == Time{17});
  CHECK_FALSE(fixture.live.poll());
  CHECK(fixture.sent.size() == 1);
}

TEST_CASE("live operations: a failure is reported once, in the transport's words; others go on") {
  Fixture fixture({});
  fixture.start(1);
  fixture.start(2);
  fixture.end(1, End::Broken);
  CHECK(fixture.live.poll());
  CHECK(fixture.take_sent() == Texts{"failed 1: a broken wire"});
  CHECK_FALSE(fixture.live.poll());
  fixture.end(2);
  CHECK(fixture.live.poll());
  CHECK(fixture.take_sent() == Texts{"done 2"});
}

TEST_CASE("live operations: a failed one makes room for the next on an ordered transport") {
  Fixture fixture({.ordered = true});
  fixture.start(1);
  fixture.start(2);
  fixture.end(1, End::Broken);
  fixture.end(2);
  CHECK(fixture.live.poll());
  CHECK(fixture.take_sent() == Texts{"failed 1: a broken wire", "done 2"});
}

TEST_CASE("live operations: the first member draws the rendezvous, sends it and begins") {
  Fixture fixture({.rendezvous = true});
  fixture.start(1);
  CHECK(fixture.take_sent() == Texts{"rendezvous 1 at 7"});
  CHECK(fixture.live.can_progress());
  CHECK(fixture.live.poll());
  CHECK(fixture.transport.calls == Texts{"create 1 at 7", "all-reduce 1"});
}

TEST_CASE("live operations: another member waits for the rendezvous, and cannot get on meanwhile") {
  Fixture fixture({.rendezvous = true, .member = 1});
  fixture.start(1);
  CHECK(fixture.sent.empty());
  CHECK_FALSE(fixture.live.can_progress());
  CHECK_FALSE(fixture.live.poll());
  CHECK(fixture.transport.calls.empty());
  fixture.meet(1, 9);
  CHECK(fixture.live.can_progress());
  CHECK(fixture.live.poll());
  CHECK(fixture.transport.calls == Texts{"create 1 at 9", "all-reduce 1"});
}

TEST_CASE("live operations: a rendezvous that comes before its start is kept for it") {
  Fixture fixture({.rendezvous = true, .member = 1});
  fixture.meet(1, 9);
  CHECK_FALSE(fixture.live.can_progress());
  fixture.start(1);
  CHECK(fixture.live.can_progress());
  CHECK(fixture.live.poll());
  CHECK(fixture.transport.calls.front() == "create 1 at 9");
}

TEST_CASE("live operations: side by side, the next does not wait for another's rendezvous") {
  Fixture fixture({.rendezvous = true, .member = 1});
  fixture.start(1);
  fixture.start(2);
  fixture.meet(2, 9);
  CHECK(fixture.live.can_progress());
  CHECK(fixture.live.poll());
  CHECK(fixture.transport.calls == Texts{"create 2 at 9", "all-reduce 2"});
}

TEST_CASE("live operations: in order, the next waits for the rendezvous of the one before it") {
  Fixture fixture({.ordered = true, .rendezvous = true, .member = 1});
  fixture.start(1);
  fixture.start(2);
  fixture.meet(2, 9);
  CHECK_FALSE(fixture.live.can_progress());
  CHECK_FALSE(fixture.live.poll());
  CHECK(fixture.transport.calls.empty());
}

TEST_CASE("live operations: a part in the background begins when the snapshots are taken") {
  Fixture fixture({});
  fixture.start(1, Role::Background);
  CHECK(fixture.live.poll());
  CHECK(fixture.transport.calls == Texts{"snapshots", "create 1", "all-reduce 1"});
}

TEST_CASE("live operations: one that has not begun fails when aborted, and never begins") {
  Fixture fixture({.rendezvous = true, .member = 1});
  fixture.start(1);
  fixture.live.abort(SyncId{1});
  CHECK(fixture.take_sent() == Texts{"failed 1: told to end it: a member was lost"});
  CHECK(fixture.live.empty());
  fixture.meet(1, 9);
  CHECK_FALSE(fixture.live.poll());
  CHECK(fixture.transport.calls.empty());
}

TEST_CASE("live operations: one that is under way fails when aborted, and is not done later") {
  Fixture fixture({});
  fixture.start(1);
  CHECK(fixture.live.poll());
  fixture.live.abort(SyncId{1});
  CHECK(fixture.take_sent() == Texts{"failed 1: told to end it: a member was lost"});
  fixture.end(1);
  CHECK_FALSE(fixture.live.poll());
  CHECK(fixture.sent.empty());
}

TEST_CASE("live operations: one that is over is not reported again when aborted") {
  Fixture fixture({});
  fixture.start(1);
  fixture.end(1);
  CHECK(fixture.live.poll());
  fixture.live.abort(SyncId{1});
  CHECK(fixture.take_sent() == Texts{"done 1"});
}

TEST_CASE("live operations: a communicator is dropped once, and only if it was made") {
  Fixture fixture({});
  fixture.start(1);
  fixture.end(1);
  CHECK(fixture.live.poll());
  fixture.transport.calls.clear();
  for (const std::uint32_t id : {1U, 1U, 2U}) fixture.live.drop(CommunicatorId{id});
  CHECK(fixture.transport.calls == Texts{"destroy 1"});
}

TEST_CASE("live operations: a drop takes the rendezvous of a start that never began with it") {
  Fixture fixture({.rendezvous = true, .member = 1});
  fixture.meet(1, 9);
  fixture.live.drop(CommunicatorId{1});
  fixture.start(1);
  CHECK_FALSE(fixture.live.can_progress());
}

TEST_CASE("live operations: clearing cancels all, drops all communicators and reports nothing") {
  Fixture fixture({});
  fixture.start(1);
  fixture.start(2);
  CHECK(fixture.live.poll());
  fixture.transport.calls.clear();
  fixture.live.clear();
  CHECK(fixture.transport.calls == Texts{"destroy 1", "destroy 2"});
  CHECK(fixture.live.empty());
  CHECK(fixture.sent.empty());
}

}  // namespace
}  // namespace cohort
