#include "runtime/job_server.h"

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <thread>

#include "policies/errors.h"
#include "runtime/codec.h"
#include "runtime/endpoint.h"
#include "tests/runtime/fake_rank.h"
#include "tests/runtime/random_job.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using Bytes = std::vector<std::uint8_t>;

std::vector<std::uint32_t> ranks_of(const RunSetup& setup) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t i = 0; i < setup.topology.workers() + setup.topology.servers(); ++i)
    ranks.push_back(i);
  return ranks;
}

RunSetup setup_of(const std::string& policy, std::uint32_t workers, std::uint64_t steps) {
  auto setup = plain_setup(policy, {workers}, steps);
  setup.verify = false;
  return setup;
}

// A run that only a loss or an interruption ends.
RunSetup endless() {
  auto setup = setup_of("all-reduce", 3, 1);
  setup.steps_per_worker.reset();
  setup.total_steps = UINT64_MAX;
  return setup;
}

// A server with its fake ranks, and what it logged.
struct Job {
  explicit Job(std::uint32_t count, std::chrono::milliseconds silence = 5s)
      : server({.ranks = count,
                .start_limit = 10s,
                .silence = silence,
                .log = [this](const std::string& line) { log(line); }}) {
    for (std::uint32_t rank = 0; rank < count; ++rank) ranks.emplace_back(server, rank);
    (void)server.await_ranks();
  }
  void log(const std::string& line) {
    const std::lock_guard lock(mutex);
    lines += line + "\n";
    changed.notify_all();
  }
  // Waits, a bounded time, until a line holds `part`; all lines so far.
  std::string logged(const std::string& part) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, 20s, [&] { return lines.find(part) != std::string::npos; });
    return lines;
  }
  RunRecord run(const RunSetup& setup) { return server.run(setup, ranks_of(setup), nullptr); }

  std::mutex mutex;
  std::condition_variable changed;
  std::string lines;
  JobServer server;
  std::deque<FakeRank> ranks;
};

// A connection that says what it likes.
struct Stranger {
  explicit Stranger(const JobServer& server) { socket.connect(endpoint_of(server.address())); }
  void say(const Bytes& bytes) { boost::asio::write(socket, boost::asio::buffer(bytes)); }
  void say(const Message& message) {
    Bytes bytes;
    encode(message, bytes);
    say(bytes);
  }
  [[nodiscard]] std::string name() const { return text_of(socket.local_endpoint()); }

  boost::asio::io_context io;
  tcp::socket socket{io};
};

// What the server logs of a stranger; the job goes on undisturbed.
template <typename Say>
std::string refusal(Job& job, Say say) {
  Stranger stranger(job.server);
  const auto begin = "refused " + stranger.name() + ": ";
  say(stranger);
  const auto lines = job.logged(begin);
  const auto at = lines.find(begin);
  if (at == std::string::npos) return "";
  CHECK(job.run(setup_of("all-reduce", 2, 3)).failure == "");
  const auto reason = lines.substr(at + begin.size());
  return reason.substr(0, reason.find('\n'));
}

Bytes frame(const Message& message) {
  Bytes bytes;
  encode(message, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("job server: a run of every policy comes to its quota over real connections") {
  for (const auto& policy : all_policies()) {
    CAPTURE(policy.name);
    const auto setup = setup_of(policy.name, 4, 20);
    Job job(static_cast<std::uint32_t>(ranks_of(setup).size()));
    const auto record = job.run(setup);
    CHECK(record.failure == "");
    CHECK(record.steps.size() == 80);
    CHECK(record.cpu == std::vector<Time>(ranks_of(setup).size(), Time{7}));
    job.server.end("");
    CHECK(job.ranks[0].job_failure.take() == "");
  }
}

TEST_CASE("job server: the log of a run over connections replays to identical actions") {
  const auto setup = setup_of("smart", 8, 30);
  Job job(8);
  KeptLog log;
  CHECK(job.server.run(setup, ranks_of(setup), &log).failure == "");
  CHECK(log.difference(setup) == "");
}

TEST_CASE("job server: one run follows another on the same ranks, on fewer, and in another order") {
  Job job(4);
  CHECK(job.run(setup_of("ad-psgd", 4, 5)).failure == "");
  CHECK(job.run(setup_of("all-reduce", 2, 5)).failure == "");
  const auto setup = setup_of("d-psgd", 3, 5);
  CHECK(job.server.run(setup, {3, 0, 2}, nullptr).failure == "");
}

TEST_CASE("job server: what ranks say of themselves is handed out") {
  JobServer server({.ranks = 2});
  FakeRank one(server, 1);
  FakeRank zero(server, 0);
  const auto facts = server.await_ranks();
  REQUIRE(facts.size() == 2);
  CHECK(facts[1].process == 101);
  CHECK(facts[1].host == "here");
}

TEST_CASE("job server: garbage is refused") {
  Job job(2);
  const auto reason = refusal(job, [](Stranger& peer) {
    peer.say(Bytes{'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P', '/', '1'});
  });
  CHECK(reason == "garbage: not a frame of this protocol");
}

TEST_CASE("job server: another version of the protocol is refused") {
  Job job(2);
  auto bytes = frame(FakeRank::hello(job.server, 0));
  bytes[4] = 7;
  CHECK(refusal(job, [&](Stranger& peer) { peer.say(bytes); }) == "protocol version 7, here 2");
}

TEST_CASE("job server: an oversized frame is refused before it is read") {
  Job job(2);
  auto bytes = frame(FakeRank::hello(job.server, 0));
  bytes[11] = 0x7f;
  const auto reason = refusal(job, [&](Stranger& peer) { peer.say(bytes); });
  CHECK(reason.starts_with("oversized: a body of 21307"));
}

TEST_CASE("job server: before its hello nobody may send much") {
  Job job(2);
  auto bytes = frame(FakeRank::hello(job.server, 0));
  bytes[9] = 0x20;
  const auto reason = refusal(job, [&](Stranger& peer) { peer.say(bytes); });
  CHECK(reason.ends_with("at this point at most 4096"));
}

TEST_CASE("job server: a truncated frame is refused") {
  Job job(2);
  auto bytes = frame(FakeRank::hello(job.server, 0));
  bytes.pop_back();
  const auto reason = refusal(job, [&](Stranger& peer) {
    peer.say(bytes);
    peer.socket.close();
  });
  CHECK(reason == "truncated: the connection ended inside a frame");
}

TEST_CASE("job server: a hello with another secret is refused") {
  Job job(2);
  auto hello = FakeRank::hello(job.server, 0);
  hello.secret[15] ^= 1;
  CHECK(refusal(job, [&](Stranger& peer) { peer.say(Message(hello)); }) ==
        "its hello has another secret");
}

TEST_CASE("job server: an unknown rank is refused") {
  Job job(2);
  CHECK(refusal(job, [&](Stranger& peer) { peer.say(Message(FakeRank::hello(job.server, 2))); }) ==
        "it says to be rank 2 of 2");
}

TEST_CASE("job server: a second process that says to be the same rank is refused") {
  Job job(2);
  CHECK(refusal(job, [&](Stranger& peer) { peer.say(Message(FakeRank::hello(job.server, 1))); }) ==
        "it says to be rank 1, which is connected");
}

TEST_CASE("job server: a connection that does not begin with a hello is refused") {
  Job job(2);
  CHECK(refusal(job, [](Stranger& peer) { peer.say(Message(message::Prepared{1})); }) ==
        "it did not begin with a hello");
}

TEST_CASE("job server: a connection that says nothing is refused after a while") {
  Job job(2, 1s);
  CHECK(refusal(job, [](Stranger&) {}) == "no hello within 1.0 s");
}

TEST_CASE("job server: a rank that does not come is named") {
  JobServer server({.ranks = 3, .start_limit = 50ms});
  FakeRank one(server, 1);
  CHECK_THROWS_WITH_AS(
      (void)server.await_ranks(),
      ("2 of 3 ranks did not connect to " + server.address() + " within 50 ms: 0, 2").c_str(),
      EnvironmentError);
}

TEST_CASE("job server: a rank that breaks off in a run is named to all, and the run is over") {
  Job job(3);
  std::thread killer([&] {
    std::this_thread::sleep_for(50ms);
    job.ranks[1].close();
  });
  const auto record = job.run(endless());
  killer.join();
  CHECK(record.failure.starts_with("worker 1 was lost after "));
  CHECK(record.failure.ends_with("rank 1 (process 101 on here): the connection was closed"));
  CHECK(job.ranks[0].run_failure.take() == record.failure);
}

TEST_CASE("job server: a rank that falls silent is lost") {
  JobServer server({.ranks = 3, .silence = 500ms});
  FakeRank zero(server, 0);
  FakeRank one(server, 1, 1h);
  FakeRank two(server, 2);
  (void)server.await_ranks();
  zero.get_stuck();  // no more steps, so nothing but heartbeats
  const auto record = server.run(endless(), {0, 1, 2}, nullptr);
  CHECK(record.failure.ends_with("rank 1 (process 101 on here): it was silent for 0.5 s"));
}

TEST_CASE("job server: garbage of a rank ends it alone, with its reason") {
  Job job(3);
  job.ranks[2].send(message::Prepared{9});
  const auto lines = job.logged("lost rank 2");
  CHECK(lines.find("lost rank 2 (process 102 on here) at 127.0.0.1:") == 0);
  CHECK(lines.find(": a message while there is no run") != std::string::npos);
  CHECK(job.ranks[2].closed.take() != "nothing came");
  CHECK(job.run(setup_of("all-reduce", 2, 3)).failure == "");
}

TEST_CASE("job server: a run that needs a lost rank fails at once") {
  Job job(3);
  job.ranks[2].close();
  (void)job.logged("lost rank 2");
  const auto record = job.run(setup_of("all-reduce", 3, 3));
  CHECK(record.failure == "rank 2 (process 102 on here): the connection was closed");
  CHECK(record.lost == std::vector{record.failure});
}

TEST_CASE("job server: with continue the others come to their quota") {
  Job job(3);
  auto setup = setup_of("all-reduce", 3, 2'000);
  setup.on_loss = OnLoss::Continue;
  std::thread killer([&] {
    std::this_thread::sleep_for(20ms);
    job.ranks[1].close();
  });
  const auto record = job.run(setup);
  killer.join();
  CHECK(record.failure == "");
  CHECK(record.lost.size() == 1);
}

TEST_CASE("job server: a rank that does not answer the end of a run is lost") {
  Job job(3);
  job.ranks[0].get_stuck();
  std::thread interrupter([&] {
    std::this_thread::sleep_for(20ms);
    job.server.interrupt("interrupted");
  });
  const auto record = job.run(endless());
  CHECK(record.failure == "interrupted");
  CHECK(record.lost.size() == 1);
  interrupter.join();
  CHECK(job.logged("lost rank 0").find("it did not answer the end of the run") !=
        std::string::npos);
}

TEST_CASE(
    "job server: that ranks were not prepared in time is said, also when they are lost then") {
  JobServer server({.ranks = 2, .start_limit = 2s});
  std::deque<FakeRank> ranks;
  for (std::uint32_t rank = 0; rank < 2; ++rank) ranks.emplace_back(server, rank);
  (void)server.await_ranks();
  ranks[1].get_slow();
  const auto record = server.run(setup_of("all-reduce", 2, 3), {0, 1}, nullptr);
  CHECK(record.failure.starts_with("not prepared within 2000 ms (run.start_limit): worker 1, "));
  REQUIRE(record.lost.size() == 1);
  CHECK(record.lost[0].starts_with(record.failure + "; worker 1, rank 1"));
}

TEST_CASE("job server: a run of so many seconds ends well") {
  Job job(3);
  auto setup = endless();
  setup.seconds = 100ms;
  const auto record = job.run(setup);
  CHECK(record.failure == "");
  CHECK(record.elapsed >= 100ms);
}

TEST_CASE("job server: an error of the run itself reaches its caller, and the ranks live on") {
  Job job(2);
  auto setup = setup_of("all-reduce", 2, 9);
  const ComputeTrace trace(2, 1, {Time{5}, Time{5}});
  setup.stragglers = {{Replay{.trace = std::make_shared<const ComputeTrace>(trace)}}};
  CHECK_THROWS_AS((void)job.run(setup), InputError);
  CHECK(job.run(setup_of("all-reduce", 2, 3)).failure == "");
}

TEST_CASE("job server: a run on a rank beyond the job, or on one rank twice, breaks its contract") {
  Job job(2);
  const auto setup = setup_of("all-reduce", 2, 3);
  CHECK_THROWS_WITH_AS((void)job.server.run(setup, {0, 2}, nullptr),
                       "a run was given rank 2 of a job of 2", ContractError);
  CHECK_THROWS_WITH_AS((void)job.server.run(setup, {1, 1}, nullptr), "a run was given rank 1 twice",
                       ContractError);
  CHECK(job.run(setup).failure == "");
}

TEST_CASE("job server: an address in use is named") {
  JobServer first({.ranks = 1});
  const auto where = first.address();
  CHECK_THROWS_WITH_AS(JobServer({.listen = where, .ranks = 1}),
                       ("cannot listen at " + where + ": Address already in use").c_str(),
                       EnvironmentError);
}

TEST_CASE("endpoint: an address, an interface, and a port behind either") {
  CHECK(text_of(endpoint_of("127.0.0.1")) == "127.0.0.1:0");
  CHECK(text_of(endpoint_of("127.0.0.1:4242")) == "127.0.0.1:4242");
  CHECK(text_of(endpoint_of("lo")) == "127.0.0.1:0");
  CHECK(text_of(endpoint_of("lo:17")) == "127.0.0.1:17");
  CHECK(text_of(endpoint_of("::1")) == "[::1]:0");
  CHECK(text_of(endpoint_of("[::1]:80")) == "[::1]:80");
}

TEST_CASE(
    "endpoint: what is no address that ranks could connect to is refused with what is allowed") {
  for (const auto* text :
       {"", "nowhere", "127.0.0.1:x", "127.0.0.1:70000", "0.0.0.0", "[::1", "[::1]80"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)endpoint_of(text), InputError);
  }
}

}  // namespace cohort
