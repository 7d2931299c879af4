// The group generator against a bare epoll echo of the same frame and against Python gRPC: 16
// connections on loopback, each with one request under way, all in the same run.
//
//   request  a Ready of 36 bytes; the echo sends it back
//   answer   a Release of 30 bytes, from JobServer, GroupGenerator and CheckedPolicy with `static`:
//            the spec's phase names only workers 16 and 17, who never report, so that a ready of
//            worker 0..15 is one whole step of the policy with one release; lognormal jitter drawn
// Echo and group generator take turns under the same load generator; the median of the rounds is
// shown. Usage: group_generator_bench [GRPC_SCRIPT]
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "benchmarks/load_generator.h"
#include "policies/errors.h"
#include "runtime/codec.h"
#include "runtime/endpoint.h"
#include "runtime/job_server.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kConnections = 16;
constexpr int kRounds = 5;
constexpr auto kWarmUp = 200ms;
constexpr auto kRound = 1'000ms;

Bytes frame_of(const Message& message) {
  Bytes bytes;
  encode(message, bytes);
  return bytes;
}

// Reads, writes back, nothing else. Ends when the last connection has.
void echo(tcp::acceptor& acceptor) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<tcp::socket> sockets;
  for (std::uint32_t i = 0; i < kConnections; ++i) {
    auto& socket = sockets.emplace_back(acceptor.accept());
    socket.set_option(tcp::no_delay(true));
    epoll_event event{.events = EPOLLIN, .data = {.fd = socket.native_handle()}};
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket.native_handle(), &event);
  }
  for (auto open = kConnections; open > 0;) {
    std::array<epoll_event, 64> events;
    const int found = ::epoll_wait(epoll, events.data(), events.size(), -1);
    for (int i = 0; i < found; ++i) {
      std::array<std::uint8_t, 4096> bytes;
      const auto got = ::recv(events[i].data.fd, bytes.data(), bytes.size(), 0);
      if (got <= 0 || ::send(events[i].data.fd, bytes.data(), got, MSG_NOSIGNAL) != got) {
        ::epoll_ctl(epoll, EPOLL_CTL_DEL, events[i].data.fd, nullptr);
        --open;
      }
    }
  }
  ::close(epoll);
}

RunSetup setup_of_bench() {
  RunSetup setup;
  setup.policy = find_policy("static");
  Options given;
  given.set("phases", Phases{{{kConnections, kConnections + 1}}});
  setup.options = resolve(*setup.policy, given);
  setup.topology = Topology(1, kConnections + 2);
  setup.base.assign(kConnections + 2, 1ms);
  setup.stragglers = {{.model = Lognormal{0.02}}};
  setup.total_steps = UINT64_MAX;
  return setup;
}

Message read_message(tcp::socket& socket) {
  Bytes header(kHeaderBytes);
  boost::asio::read(socket, boost::asio::buffer(header));
  const auto head = decode_header(header);
  Bytes body(head.length);
  boost::asio::read(socket, boost::asio::buffer(body));
  return decode_body(head, body);
}

void say(tcp::socket& socket, const Message& message) {
  boost::asio::write(socket, boost::asio::buffer(frame_of(message)));
}

// Connected ranks that have been told to compute step 0.
std::vector<tcp::socket> join_run(boost::asio::io_context& io, JobServer& server,
                                  std::future<RunRecord>& record) {
  std::vector<tcp::socket> sockets;
  for (std::uint32_t rank = 0; rank < kConnections + 2; ++rank) {
    auto& socket = sockets.emplace_back(io);
    socket.connect(endpoint_of(server.address()));
    say(socket, message::Hello{.secret = server.secret(), .rank = rank});
  }
  (void)server.await_ranks();
  record = std::async(std::launch::async, [&server] {
    std::vector<std::uint32_t> ranks(kConnections + 2);
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = rank;
    return server.run(setup_of_bench(), ranks, nullptr);
  });
  for (auto& socket : sockets) {
    const auto prepare = std::get<message::Prepare>(read_message(socket));
    if (prepare.member == 0) say(socket, message::Rendezvous{kAllMembers, {}});
    say(socket, message::Prepared{prepare.run});
  }
  for (auto& socket : sockets) (void)std::get<message::Release>(read_message(socket));
  return sockets;
}

LoadResult median(std::vector<LoadResult> rounds) {
  const auto of = [&rounds](double LoadResult::*field) {
    std::ranges::sort(rounds, {}, field);
    return rounds[rounds.size() / 2].*field;
  };
  return {of(&LoadResult::requests_per_second), of(&LoadResult::p50_us), of(&LoadResult::p99_us)};
}

void show(const char* name, const LoadResult& result) {
  std::printf("%-16s %10.0f requests/s   p50 %8.1f us   p99 %8.1f us\n", name,
              result.requests_per_second, result.p50_us, result.p99_us);
}

// Empty where the script or grpcio is missing.
std::optional<LoadResult> grpc(const std::string& script, std::size_t request, std::size_t answer) {
  if (script.empty()) return std::nullopt;
  const auto command = script + " " + std::to_string(kConnections) + " 4 " +
                       std::to_string(request) + " " + std::to_string(answer);
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  LoadResult result;
  const int read =
      std::fscanf(pipe, "%lf %lf %lf", &result.requests_per_second, &result.p50_us, &result.p99_us);
  ::pclose(pipe);
  return read == 3 ? std::optional(result) : std::nullopt;
}

void compare(const std::string& script) {
  boost::asio::io_context io;
  tcp::acceptor acceptor(io, endpoint_of("127.0.0.1"));
  std::thread echoing([&acceptor] { echo(acceptor); });
  std::vector<tcp::socket> echoed;
  for (std::uint32_t i = 0; i < kConnections; ++i)
    echoed.emplace_back(io).connect(acceptor.local_endpoint());

  JobServer server({.ranks = kConnections + 2, .silence = 600s});
  std::future<RunRecord> record;
  auto members = join_run(io, server, record);
  std::vector<tcp::socket> silent;
  for (int i = 0; i < 2; ++i) {
    silent.push_back(std::move(members.back()));
    members.pop_back();
  }

  const auto request = frame_of(message::Ready{});
  const auto answer = frame_of(message::Release{});
  std::vector<LoadResult> bare, ours;
  {
    LoadGenerator to_echo(std::move(echoed), request, request.size());
    LoadGenerator to_server(std::move(members), request, answer.size());
    (void)to_echo.run(kWarmUp);
    (void)to_server.run(kWarmUp);
    for (int round = 0; round < kRounds; ++round) {
      bare.push_back(to_echo.run(kRound));
      ours.push_back(to_server.run(kRound));
    }
  }
  echoing.join();
  server.interrupt("measured");
  record.wait();

  const auto echo = median(bare);
  const auto own = median(ours);
  std::printf("%u connections on loopback, request %zu bytes, median of %d rounds\n", kConnections,
              request.size(), kRounds);
  show("epoll echo", echo);
  show("group generator", own);
  std::printf("requests/s: %.0f %% of the echo (at least 60 %%)\n",
              100 * own.requests_per_second / echo.requests_per_second);
  std::printf("p99: %.2f of the echo's (below 2)\n", own.p99_us / echo.p99_us);
  if (const auto theirs = grpc(script, request.size(), answer.size())) {
    show("Python gRPC", *theirs);
    std::printf("requests/s: %.0f times Python gRPC (at least 15)\n",
                own.requests_per_second / theirs->requests_per_second);
  } else {
    std::printf("Python gRPC: skipped, grpcio is not installed\n");
  }
}

}  // namespace
}  // namespace cohort

int main(int count, char** arguments) {
  try {
    cohort::compare(count > 1 ? arguments[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "group_generator_bench: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
