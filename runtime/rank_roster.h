// Who is connected to the group generator: accepts, refuses, hears hellos, answers clocks, notices
// silence. Knows ranks and connections, nothing of runs.
//
// A rank is absent, then present, then lost or gone: it does not come back. Belongs to the thread
// that runs the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/framed_socket.h"
#include "runtime/job_server.h"
#include "runtime/messages.h"

namespace cohort {

class RankRoster {
 public:
  struct Handlers {
    std::function<void(std::uint32_t rank)> joined;
    // All that a present rank says but hellos, probes and heartbeats. May throw FrameError, which
    // ends the connection.
    std::function<void(std::uint32_t rank, Message&&, Time at)> receive;
    // `why` is a sentence that names the rank.
    std::function<void(std::uint32_t rank, const std::string& why)> lost;
    std::function<void()> all_gone;  // after farewell(): no rank is present any more
  };

  // Listens; hears nobody before begin(). Throws EnvironmentError, InputError.
  RankRoster(boost::asio::io_context& io, const JobServer::Options& options, const Secret& secret);

  void begin(Handlers handlers);
  [[nodiscard]] boost::asio::ip::tcp::endpoint endpoint() const;

  // Ranks of the job; every `rank` below is less.
  [[nodiscard]] std::size_t size() const { return seats_.size(); }
  [[nodiscard]] bool present(std::uint32_t rank) const {
    return seats_[rank].connection != nullptr;
  }
  [[nodiscard]] const RankFacts& facts(std::uint32_t rank) const { return seats_[rank].facts; }
  // Why a rank that is not present is not: a sentence that names it.
  [[nodiscard]] std::string absence(std::uint32_t rank) const;
  // "rank 3 (process 17 on host)"
  [[nodiscard]] std::string name(std::uint32_t rank) const;

  // Nothing when the rank is not present. Written at the next flush(), or when the handler that is
  // running returns.
  void send(std::uint32_t rank, const Message& message);
  void flush();
  // As if its connection had broken.
  void drop(std::uint32_t rank, const std::string& why);
  // Sends to all; from now on a rank that closes is gone, not lost.
  void farewell(const Message& message);
  void close();

 private:
  struct Connection {
    std::shared_ptr<FramedSocket> socket;
    Time heard{};                       // last; at first when it was accepted
    std::optional<std::uint32_t> rank;  // after its hello
    bool dirty = false;                 // has something queued
  };
  using Connections = std::list<Connection>;
  using Place = Connections::iterator;
  struct Seat {                        // of one rank
    Connection* connection = nullptr;  // null: not present
    RankFacts facts;
    std::string lost;  // why
  };

  void accept();
  void accept_later();
  void admit(boost::asio::ip::tcp::socket socket);
  void receive(Place connection, Message&& message);
  void end(Place connection, const std::string& why);
  void refuse(Place connection, const std::string& why);
  [[nodiscard]] std::uint32_t check(const message::Hello& hello) const;
  void greet(Connection& connection, const message::Hello& hello);
  void hear(std::uint32_t rank, Message&& message);
  void lose(Place connection, const std::string& why);
  void sweep();
  void end_silent();
  void log(const std::string& line) const;

  const JobServer::Options& options_;
  Secret secret_;
  Handlers handlers_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer sweep_;
  boost::asio::steady_timer pause_;
  std::vector<Seat> seats_;
  std::vector<std::uint32_t> dirty_;
  Connections connections_;
  std::size_t strangers_ = 0;  // connections without a rank
  bool leaving_ = false;
};

// Of this process: the clock that the messages' times refer to.
[[nodiscard]] inline Time now_here() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace cohort
