#include "runtime/operation.h"

#include <doctest/doctest.h>

#include <deque>
#include <functional>

#include "runtime/mean_check.h"
#include "tests/runtime/thread_transport.h"

namespace cohort {
namespace {

using Values = std::vector<float>;
constexpr auto kCommunicator = CommunicatorId{3};

// Members of one run, polled in turn by one thread.
struct Members {
  struct Options {
    std::uint32_t workers = 4;
    std::uint32_t servers = 0;
    std::uint64_t entries = 1000;
    bool verify = false;
    bool publish = false;
    ServerUpdate update = ServerUpdate::None;
    ThreadFabric::Options fabric = {};
  };

  explicit Members(const Options& options) : fabric(options.fabric) {
    message::Prepare prepare{.run = 1,
                             .member = 0,
                             .workers = options.workers,
                             .ranks = {},
                             .entries = options.entries,
                             .seed = 7,
                             .verify = options.verify,
                             .publish = options.publish,
                             .update = options.update,
                             .rendezvous = {}};
    const auto count = options.workers + options.servers;
    for (std::uint32_t i = 0; i < count; ++i) prepare.ranks.push_back(i + 10);
    for (; prepare.member < count; ++prepare.member) {
      replicas.emplace_back(prepare, vectors);
      transports.emplace_back(fabric, prepare.member + 10);
    }
    for (std::uint32_t i = 0; i < options.workers; ++i) set(i, worker_values(i, options.entries));
  }

  // Different at every worker.
  static Values worker_values(std::uint32_t worker, std::size_t entries) {
    Values values(entries);
    for (std::size_t i = 0; i < entries; ++i) {
      values[i] = static_cast<float>(worker + 1) + 0.25F * static_cast<float>(i % 13);
    }
    return values;
  }
  void set(std::size_t member, const Values& values) {
    vectors.write(values, replicas[member].parameters.entries());
  }
  void add(std::size_t member, float change) {
    auto values = parameters(member);
    for (auto& value : values) value += change;
    set(member, values);
  }
  [[nodiscard]] Values of(const Buffer& buffer) {
    Values values(buffer.count());
    vectors.read(buffer.entries(), values);
    return values;
  }
  [[nodiscard]] Values parameters(std::size_t member) { return of(replicas[member].parameters); }

  void take_snapshot(std::size_t member) {
    replicas[member].snapshot = Buffer(vectors, replicas[member].parameters.count());
    vectors.write(parameters(member), replicas[member].snapshot.entries());
  }

  [[nodiscard]] std::unique_ptr<Operation> begin(std::size_t member, const message::Start& start) {
    return begin_operation(start, {},
                           {replicas[member], transports[member], [this] { return ++clock; }});
  }
  // Begins the start at its members, calls `meanwhile`, and polls until all are over.
  std::vector<message::Done> run(const message::Start& start,
                                 const std::function<void()>& meanwhile = {}) {
    std::vector<std::unique_ptr<Operation>> operations;
    for (const auto& member : start.members)
      operations.push_back(begin(index(member.worker), start));
    static_cast<void>(operations.front()->poll());
    if (meanwhile) meanwhile();
    std::vector<message::Done> done(operations.size());
    std::size_t left = operations.size();
    for (int turn = 0; left > 0 && turn < 1000; ++turn) {
      for (std::size_t i = 0; i < operations.size(); ++i) {
        if (!operations[i] || !operations[i]->poll()) continue;
        done[i] = operations[i]->result();
        operations[i].reset();
        --left;
      }
    }
    CHECK(left == 0);
    return done;
  }

  HostVectors vectors;
  ThreadFabric fabric;
  std::deque<Replica> replicas;
  std::deque<ThreadTransport> transports;
  Time clock{};
};

message::Start start_of(SyncKind kind, std::vector<Member> members, std::uint64_t sync = 1) {
  return {.sync = SyncId{sync},
          .kind = kind,
          .step = 0,
          .members = std::move(members),
          .communicator = kCommunicator,
          .create = kind == SyncKind::GroupMean && sync == 1};
}

Member member(std::uint32_t worker, Role role, double weight) {
  return {WorkerId{worker}, role, weight};
}

// sum of weight * values, in double
Values weighted(const std::vector<std::pair<double, Values>>& parts) {
  std::vector<double> sums(parts.front().second.size());
  for (const auto& [weight, values] : parts) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * values[i];
  }
  return {sums.begin(), sums.end()};
}

void check_close(const Values& found, const Values& expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(found[i]) - expected[i]));
  }
  CHECK(largest < 2e-6);
}

Values plus(Values values, float change) {
  for (auto& value : values) value += change;
  return values;
}

}  // namespace

TEST_CASE("group mean: blocking members end with their mean, and nobody else changes") {
  for (const bool outlives : {true, false}) {
    Members members({.fabric = {.outlives_failure = outlives}});
    const auto untouched = members.parameters(1);
    const auto mean = weighted({{1. / 3, members.parameters(0)},
                                {1. / 3, members.parameters(2)},
                                {1. / 3, members.parameters(3)}});
    members.run(start_of(SyncKind::GroupMean,
                         {member(3, Role::Blocking, 1. / 3), member(0, Role::Blocking, 1. / 3),
                          member(2, Role::Blocking, 1. / 3)}));
    for (const std::size_t i : {0, 2, 3}) check_close(members.parameters(i), mean);
    CHECK(members.parameters(1) == untouched);
  }
}

TEST_CASE("group mean: the communicator lists its members by worker, whatever the start's order") {
  Members members({});
  members.run(start_of(SyncKind::GroupMean,
                       {member(3, Role::Blocking, 0.5), member(0, Role::Blocking, 0.5)}));
  CHECK(members.fabric.communicators().at({0, kCommunicator}) ==
        std::vector<std::uint32_t>{10, 13});
}

TEST_CASE("group mean: equal parameters stay equal to the last bit") {
  Members members({});
  const auto values = Members::worker_values(0, 1000);
  for (const std::size_t i : {0, 1, 2}) members.set(i, values);
  members.run(start_of(SyncKind::GroupMean,
                       {member(0, Role::Blocking, 1. / 3), member(1, Role::Blocking, 1. / 3),
                        member(2, Role::Blocking, 1. / 3)}));
  for (const std::size_t i : {0, 1, 2}) CHECK(members.parameters(i) == values);
}

TEST_CASE("group mean: unequal weights weigh") {
  Members members({});
  const auto mean = weighted({{0.7, members.parameters(0)}, {0.3, members.parameters(1)}});
  members.run(start_of(SyncKind::GroupMean,
                       {member(0, Role::Blocking, 0.7), member(1, Role::Blocking, 0.3)}));
  for (const std::size_t i : {0, 1}) check_close(members.parameters(i), mean);
}

TEST_CASE("group mean: a forwarder gives nothing and keeps its own") {
  Members members({});
  const auto own = members.parameters(2);
  const auto mean = weighted({{0.5, members.parameters(0)}, {0.5, members.parameters(1)}});
  members.run(
      start_of(SyncKind::GroupMean, {member(0, Role::Blocking, 0.5), member(1, Role::Blocking, 0.5),
                                     member(2, Role::Forwarder, 0)}));
  check_close(members.parameters(0), mean);
  CHECK(members.parameters(2) == own);
}

TEST_CASE("group mean: in the background the mean of snapshots corrects what became of them") {
  Members members({});
  const auto mean = weighted({{0.5, members.parameters(0)}, {0.5, members.parameters(1)}});
  members.take_snapshot(0);
  members.add(0, 8);  // computed on since its release
  members.run(start_of(SyncKind::GroupMean,
                       {member(0, Role::Background, 0.5), member(1, Role::Blocking, 0.5)}),
              [&] { members.add(0, 16); });
  check_close(members.parameters(0), plus(mean, 24));
  check_close(members.parameters(1), mean);
}

TEST_CASE("group mean: a failed one leaves what each member had, and can be tried again") {
  Members members({});
  const auto before = members.parameters(0);
  const std::vector<Member> pair{member(0, Role::Blocking, 0.5), member(1, Role::Blocking, 0.5)};
  auto first = members.begin(0, start_of(SyncKind::GroupMean, pair));
  auto second = members.begin(1, start_of(SyncKind::GroupMean, pair));
  CHECK_FALSE(first->poll());
  CHECK_FALSE(second->poll());
  members.fabric.break_all_reduces();
  CHECK_THROWS_AS(static_cast<void>(first->poll()), SyncFailure);
  first.reset();
  CHECK(members.parameters(0) == before);
  CHECK(members.replicas[0].has_retired());
}

TEST_CASE("pair mean: the active and the passive member end with the mean") {
  Members members({});
  const auto mean = weighted({{0.5, members.parameters(0)}, {0.5, members.parameters(1)}});
  members.run(start_of(SyncKind::PairMean,
                       {member(0, Role::Blocking, 0.5), member(1, Role::Passive, 0.5)}));
  for (const std::size_t i : {0, 1}) check_close(members.parameters(i), mean);
}

TEST_CASE("pair mean: what the passive member computes meanwhile stays on top of the mean") {
  Members members({});
  const auto mean = weighted({{0.5, members.parameters(0)}, {0.5, members.parameters(1)}});
  members.run(
      start_of(SyncKind::PairMean, {member(1, Role::Passive, 0.5), member(0, Role::Blocking, 0.5)}),
      [&] { members.add(1, 4); });
  check_close(members.parameters(0), mean);
  check_close(members.parameters(1), plus(mean, 4));
}

TEST_CASE("pair mean: an active member in the background gives its snapshot") {
  Members members({});
  const auto mean = weighted({{0.5, members.parameters(0)}, {0.5, members.parameters(1)}});
  members.take_snapshot(0);
  members.add(0, 2);
  members.run(start_of(SyncKind::PairMean,
                       {member(0, Role::Background, 0.5), member(1, Role::Passive, 0.5)}));
  check_close(members.parameters(0), plus(mean, 2));
  check_close(members.parameters(1), mean);
}

TEST_CASE("neighbour mix: the reader mixes what its neighbours published at the step") {
  Members members({.publish = true});
  members.vectors.write(Values(1000, 5), members.replicas[1].published[1].entries());
  members.vectors.write(Values(1000, 9), members.replicas[1].published[0].entries());
  members.vectors.write(Values(1000, 7), members.replicas[2].published[1].entries());
  const auto neighbour = members.parameters(1);
  const auto mixed = weighted({{0.5, members.parameters(0)}, {0.5, Values(1000, 6)}});
  auto start = start_of(SyncKind::NeighbourMix,
                        {member(0, Role::Blocking, 0.5), member(1, Role::Source, 0.25),
                         member(2, Role::Source, 0.25)});
  start.step = 3;
  members.run(start);
  check_close(members.parameters(0), mixed);
  CHECK(members.parameters(1) == neighbour);
}

TEST_CASE("neighbour mix: a reader in the background keeps what it computed meanwhile") {
  Members members({.publish = true});
  members.vectors.write(Values(1000, 6), members.replicas[1].published[0].entries());
  const auto mixed = weighted({{0.5, members.parameters(0)}, {0.5, Values(1000, 6)}});
  members.take_snapshot(0);
  members.add(0, 3);
  members.run(start_of(SyncKind::NeighbourMix,
                       {member(0, Role::Background, 0.5), member(1, Role::Source, 0.5)}));
  check_close(members.parameters(0), plus(mixed, 3));
}

namespace {

message::Start exchange_of(SyncKind kind, std::uint32_t worker, std::uint32_t workers,
                           std::uint32_t servers, std::uint64_t sync) {
  std::vector<Member> members{member(worker, Role::Blocking, 1)};
  for (std::uint32_t i = 0; i < servers; ++i)
    members.push_back(member(workers + i, Role::Server, 0));
  return start_of(kind, members, sync);
}

// Every worker pushes `gradient` times (its number + 1), then every worker pulls; all start at
// zero.
void push_and_pull(Members& members, std::uint32_t workers, std::uint32_t servers) {
  for (auto& replica : members.replicas) {
    members.vectors.scale(0, replica.parameters.entries(), replica.parameters.count());
  }
  for (std::uint32_t i = 0; i < workers; ++i) {
    const auto& gradient = members.replicas[i].gradient;
    members.vectors.write(Values(gradient.count(), static_cast<float>(i + 1)), gradient.entries());
    members.run(exchange_of(SyncKind::ServerPush, i, workers, servers, 10 + i));
  }
  for (std::uint32_t i = 0; i < workers; ++i) {
    members.run(exchange_of(SyncKind::ServerPull, i, workers, servers, 20 + i));
  }
}

}  // namespace

TEST_CASE("parameter server: one update with the mean of what was pushed, then all pull the same") {
  for (const std::uint32_t servers : {1U, 2U, 3U}) {
    Members members({.workers = 3, .servers = servers, .update = ServerUpdate::MeanGradient});
    push_and_pull(members, 3, servers);
    for (const std::size_t i : {0, 1, 2}) check_close(members.parameters(i), Values(1000, 2));
  }
}

TEST_CASE("parameter server: asynchronous pushes are worth a share of 1/n each") {
  Members members({.workers = 4, .servers = 1, .update = ServerUpdate::EveryPush});
  push_and_pull(members, 4, 1);
  check_close(members.parameters(3), Values(1000, 2.5));
}

TEST_CASE("parameter server: more servers than parameters leave some without a shard") {
  Members members({.workers = 1, .servers = 3, .entries = 2, .update = ServerUpdate::MeanGradient});
  for (auto& replica : members.replicas) {
    members.vectors.scale(0, replica.parameters.entries(), replica.parameters.count());
  }
  members.vectors.write(Values(2, 6), members.replicas[0].gradient.entries());
  members.run(exchange_of(SyncKind::ServerPush, 0, 1, 3, 10));
  members.run(exchange_of(SyncKind::ServerPull, 0, 1, 3, 11));
  check_close(members.parameters(0), Values(2, 6));
}

TEST_CASE("verify: the samples of a right mean agree with the exact mean of its members") {
  Members members({.verify = true});
  members.take_snapshot(1);
  members.add(1, 100);
  const std::vector<Member> group{member(0, Role::Blocking, 0.5), member(1, Role::Background, 0.25),
                                  member(2, Role::Blocking, 0.25)};
  const auto done = members.run(start_of(SyncKind::GroupMean, group));
  std::vector<std::vector<message::Sample>> samples;
  for (const auto& report : done) samples.push_back(report.samples);
  CHECK(mean_error(SyncKind::GroupMean, group, samples, 1000).largest < 1e-6);
}

TEST_CASE("verify: the samples show one wrong entry among all") {
  Members members({.verify = true});
  auto values = members.parameters(0);
  const auto right = sample(values.data(), values.size(), SyncId{5}, members.vectors);
  values[777] += 1;
  const auto wrong = sample(values.data(), values.size(), SyncId{5}, members.vectors);
  CHECK(std::abs(right.signed_sum - wrong.signed_sum) == doctest::Approx(1));
}

TEST_CASE("replica: what is held stays as it was while an average comes, and is let go after it") {
  Members members({.workers = 2});
  auto& replica = members.replicas[1];
  const auto before = members.parameters(1);
  const float* held = replica.hold();
  members.run(start_of(SyncKind::PairMean,
                       {member(0, Role::Blocking, 0.5), member(1, Role::Passive, 0.5)}));
  CHECK(Values(held, held + before.size()) == before);
  CHECK(members.parameters(1) == members.parameters(0));
  CHECK(replica.changes() == 1);
  replica.let_go();
  CHECK(replica.hold() == replica.parameters.entries());
}

TEST_CASE("replica: workers and servers begin with the same parameters, shard by shard") {
  Members members({.workers = 1, .servers = 3, .entries = 200'000});
  message::Prepare prepare = members.replicas[0].prepare();
  Replica worker(prepare, members.vectors);
  Values all = members.of(worker.parameters);
  Values joined;
  for (const std::size_t server : {1, 2, 3}) {
    const auto shard = members.parameters(server);
    joined.insert(joined.end(), shard.begin(), shard.end());
  }
  CHECK(joined == all);
}

}  // namespace cohort
