#include "benchmarks/load_generator.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "policies/errors.h"
#include "runtime/codec.h"

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;

double at_share(std::vector<std::uint32_t>& latencies, double share) {
  const auto place = latencies.begin() +
                     static_cast<std::ptrdiff_t>(share * static_cast<double>(latencies.size() - 1));
  std::ranges::nth_element(latencies, place);
  return *place / 1e3;
}

class Epoll {
 public:
  Epoll() : descriptor_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~Epoll() { ::close(descriptor_); }
  Epoll(const Epoll&) = delete;
  Epoll& operator=(const Epoll&) = delete;

  void add(int socket, std::uint64_t number) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
    if (::epoll_ctl(descriptor_, EPOLL_CTL_ADD, socket, &event) != 0)
      throw EnvironmentError("epoll_ctl failed");
  }
  // The numbers of those that can be read.
  std::size_t wait(std::array<epoll_event, 64>& events) {
    const int found = ::epoll_wait(descriptor_, events.data(), events.size(), 5'000);
    if (found <= 0) throw EnvironmentError("no answer within 5 s");
    return static_cast<std::size_t>(found);
  }

 private:
  int descriptor_;
};

}  // namespace

LoadGenerator::LoadGenerator(std::vector<boost::asio::ip::tcp::socket> sockets,
                             std::vector<std::uint8_t> frame, std::size_t answer_bytes)
    : frame_(std::move(frame)), answer_bytes_(answer_bytes) {
  for (auto& socket : sockets) {
    socket.set_option(boost::asio::ip::tcp::no_delay(true));
    connections_.push_back({.socket = std::move(socket), .sent = {}});
  }
}

void LoadGenerator::request(Connection& connection) {
  std::memcpy(frame_.data() + kHeaderBytes, &connection.step, sizeof(connection.step));
  ++connection.step;
  connection.read = 0;
  connection.sent = Clock::now();
  const auto sent =
      ::send(connection.socket.native_handle(), frame_.data(), frame_.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(frame_.size()))
    throw EnvironmentError("a request could not be sent");
}

bool LoadGenerator::answered(Connection& connection) const {
  std::array<std::uint8_t, 256> bytes;
  const auto got = ::recv(connection.socket.native_handle(), bytes.data(),
                          answer_bytes_ - connection.read, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN)) throw EnvironmentError("a connection was ended");
  if (got > 0) connection.read += static_cast<std::size_t>(got);
  return connection.read == answer_bytes_;
}

LoadResult LoadGenerator::run(std::chrono::milliseconds time) {
  Epoll epoll;
  for (std::size_t i = 0; i < connections_.size(); ++i)
    epoll.add(connections_[i].socket.native_handle(), i);
  std::vector<std::uint32_t> latencies;
  latencies.reserve(4'000'000);
  const auto begin = Clock::now();
  auto now = begin;
  for (auto& connection : connections_) request(connection);
  for (auto open = connections_.size(); open > 0;) {
    std::array<epoll_event, 64> events;
    const auto found = epoll.wait(events);
    for (std::size_t i = 0; i < found; ++i) {
      auto& connection = connections_[events[i].data.u64];
      if (!answered(connection)) continue;
      now = Clock::now();
      latencies.push_back(static_cast<std::uint32_t>((now - connection.sent).count()));
      now - begin < time ? request(connection) : static_cast<void>(--open);
    }
  }
  const std::chrono::duration<double> took = now - begin;
  return {static_cast<double>(latencies.size()) / took.count(), at_share(latencies, 0.5),
          at_share(latencies, 0.99)};
}

}  // namespace cohort
