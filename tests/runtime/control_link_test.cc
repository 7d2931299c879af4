#include "runtime/control_link.h"

#include <doctest/doctest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "policies/errors.h"
#include "runtime/endpoint.h"
#include "runtime/framed_socket.h"
#include "runtime/job_server.h"
#include "tests/runtime/fake_rank.h"

namespace cohort {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;

namespace {

// A group generator that tells the time, once for each probe, and nothing else.
class Mute {
 public:
  Mute() {
    acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket peer) {
      if (error) return;
      socket_ = std::make_shared<FramedSocket>(std::move(peer));
      socket_->start({.receive = [this](Message&& message) { answer(message); },
                      .broken = [](const std::string&) {}});
    });
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Mute() {
    io_.stop();
    thread_.join();
  }
  [[nodiscard]] std::string address() const { return text_of(acceptor_.local_endpoint()); }

 private:
  void answer(const Message& message) {
    const auto* probe = std::get_if<message::ClockProbe>(&message);
    if (probe == nullptr) return;
    socket_->queue(message::ClockReply{probe->sent, probe->sent});
    socket_->flush();
  }

  boost::asio::io_context io_;
  tcp::acceptor acceptor_{io_, endpoint_of("127.0.0.1")};
  std::shared_ptr<FramedSocket> socket_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("control link: a group generator that falls silent is lost") {
  const Mute server;
  Note closed;
  const ControlLink link({.server = server.address(),
                          .hello = {},
                          .heartbeat = 20ms,
                          .silence = 200ms,
                          .receive = [](Message&&) {},
                          .closed = [&](const std::string& why) { closed.leave(why); }});
  CHECK(closed.take() == "it was silent for 200 ms");
}

TEST_CASE("control link: one that has nothing to say, but answers heartbeats, is not") {
  const JobServer server({.ranks = 1});
  std::atomic<bool> lost = false;
  const ControlLink link({.server = server.address(),
                          .hello = FakeRank::hello(server, 0),
                          .heartbeat = 20ms,
                          .silence = 2s,
                          .receive = [](Message&&) {},
                          .closed = [&](const std::string&) { lost = true; }});
  std::this_thread::sleep_for(2500ms);
  CHECK_FALSE(lost);
}

TEST_CASE("control link: it tries until the group generator listens") {
  std::string where;
  {
    JobServer reserve({.ranks = 1});
    where = reserve.address();
  }
  std::unique_ptr<JobServer> server;
  std::thread late([&] {
    std::this_thread::sleep_for(100ms);
    server = std::make_unique<JobServer>(JobServer::Options{.listen = where, .ranks = 1});
  });
  // It cannot know the secret of a server that is not there yet: it comes through and is refused.
  CHECK_THROWS_WITH_AS(ControlLink({.server = where, .hello = {}, .receive = {}, .closed = {}}),
                       doctest::Contains("it ended the connection"), EnvironmentError);
  late.join();
}

TEST_CASE("control link: where nobody listens is named when the limit is over") {
  CHECK_THROWS_WITH_AS(ControlLink({.server = "127.0.0.1:1",
                                    .hello = {.rank = 3},
                                    .connect_limit = 100ms,
                                    .receive = {},
                                    .closed = {}}),
                       "rank 3 cannot reach the group generator at 127.0.0.1:1: Connection refused",
                       EnvironmentError);
}

TEST_CASE("control link: it closes although a heartbeat is always due") {
  JobServer server({.ranks = 1});
  FakeRank rank(server, 0, 0ms);
  (void)server.await_ranks();
  rank.close();
}

TEST_CASE("control link: its clock is the group generator's") {
  JobServer server({.ranks = 1});
  const FakeRank rank(server, 0);
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  const auto there = rank.now();
  CHECK(std::chrono::abs(there - before) < 1s);  // the same process, so the same clock
}

}  // namespace cohort
