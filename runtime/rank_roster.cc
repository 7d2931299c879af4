#include "runtime/rank_roster.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "policies/errors.h"
#include "runtime/endpoint.h"

namespace cohort {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kLongestHello = 4096;
constexpr std::size_t kMostStrangers = 256;
constexpr std::chrono::milliseconds kAcceptPause{100};

tcp::acceptor listen(boost::asio::io_context& io, const std::string& where) {
  const auto endpoint = endpoint_of(where);
  try {
    tcp::acceptor acceptor(io, endpoint);
    // Not for the ranks that this process may start: the port would outlive it in them.
    ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
    return acceptor;
  } catch (const boost::system::system_error& error) {
    throw EnvironmentError("cannot listen at " + text_of(endpoint) + ": " + error.code().message());
  }
}

// Takes the same time wherever they differ.
bool equal(const Secret& a, const Secret& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

std::string in_seconds(std::chrono::milliseconds time) {
  return std::to_string(time.count() / 1000) + "." + std::to_string(time.count() % 1000 / 100) +
         " s";
}

}  // namespace

RankRoster::RankRoster(boost::asio::io_context& io, const JobServer::Options& options,
                       const Secret& secret)
    : options_(options),
      secret_(secret),
      acceptor_(listen(io, options.listen)),
      sweep_(io),
      pause_(io),
      seats_(options.ranks) {}

void RankRoster::begin(Handlers handlers) {
  handlers_ = std::move(handlers);
  accept();
  sweep();
}

tcp::endpoint RankRoster::endpoint() const { return acceptor_.local_endpoint(); }

std::string RankRoster::absence(std::uint32_t rank) const {
  const auto& why = seats_[rank].lost;
  return why.empty() ? "rank " + std::to_string(rank) + " is not connected" : why;
}

std::string RankRoster::name(std::uint32_t rank) const {
  const auto& facts = seats_[rank].facts;
  return "rank " + std::to_string(rank) + " (process " + std::to_string(facts.process) + " on " +
         facts.host + ")";
}

void RankRoster::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (error) {
      log("a connection could not be accepted: " + error.message());
      return accept_later();
    }
    admit(std::move(socket));
    accept();
  });
}

// The cause, too many open files for one, may last.
void RankRoster::accept_later() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](const error_code& error) {
    if (!error) accept();
  });
}

void RankRoster::admit(tcp::socket socket) {
  const auto place = connections_.insert(
      connections_.end(),
      {std::make_shared<FramedSocket>(std::move(socket), kLongestHello), now_here(), {}, false});
  if (++strangers_ > kMostStrangers) return refuse(place, "too many without a hello");
  place->socket->start(
      {.receive = [this, place](Message&& message) { receive(place, std::move(message)); },
       .broken = [this, place](const std::string& why) { end(place, why); }});
}

void RankRoster::receive(Place connection, Message&& message) {
  const auto* hello = std::get_if<message::Hello>(&message);
  if (connection->rank) {
    if (hello != nullptr) throw FrameError("a second hello");
    return hear(*connection->rank, std::move(message));
  }
  if (hello == nullptr) throw FrameError("it did not begin with a hello");
  greet(*connection, *hello);
}

void RankRoster::end(Place connection, const std::string& why) {
  connection->rank ? lose(connection, why) : refuse(connection, why);
}

void RankRoster::refuse(Place connection, const std::string& why) {
  log("refused " + connection->socket->peer() + ": " + why);
  connection->socket->close();
  connections_.erase(connection);
  --strangers_;
}

std::uint32_t RankRoster::check(const message::Hello& hello) const {
  if (!equal(hello.secret, secret_)) throw FrameError("its hello has another secret");
  const auto rank = "rank " + std::to_string(hello.rank);
  if (hello.rank >= seats_.size())
    throw FrameError("it says to be " + rank + " of " + std::to_string(seats_.size()));
  if (present(hello.rank)) throw FrameError("it says to be " + rank + ", which is connected");
  if (!seats_[hello.rank].lost.empty())
    throw FrameError("it says to be " + rank + ", which was lost");
  if (leaving_) throw FrameError("the job is over");
  return hello.rank;
}

void RankRoster::greet(Connection& connection, const message::Hello& hello) {
  const auto rank = check(hello);
  connection.rank = rank;
  connection.heard = now_here();
  connection.socket->accept_bodies_up_to(kLongestBody);
  --strangers_;
  seats_[rank].connection = &connection;
  seats_[rank].facts = {hello.host, hello.device, hello.process};
  handlers_.joined(rank);
  flush();
}

void RankRoster::hear(std::uint32_t rank, Message&& message) {
  const auto now = now_here();
  seats_[rank].connection->heard = now;
  if (const auto* probe = std::get_if<message::ClockProbe>(&message)) {
    send(rank, message::ClockReply{probe->sent, now});
  } else if (std::holds_alternative<message::Heartbeat>(message)) {
    send(rank, message::Heartbeat{});
  } else {
    handlers_.receive(rank, std::move(message), now);
  }
  flush();
}

void RankRoster::lose(Place connection, const std::string& why) {
  const auto rank = *connection->rank;
  const auto peer = connection->socket->peer();
  connection->socket->close();
  connections_.erase(connection);
  auto& seat = seats_[rank];
  seat.connection = nullptr;
  seat.lost = name(rank) + ": " + why;
  if (!leaving_) {
    log("lost " + name(rank) + " at " + peer + ": " + why);
    handlers_.lost(rank, seat.lost);
    flush();
  } else if (std::ranges::none_of(seats_, [](const Seat& other) { return other.connection; })) {
    handlers_.all_gone();
  }
}

void RankRoster::drop(std::uint32_t rank, const std::string& why) {
  const auto found = std::ranges::find(connections_, rank, &Connection::rank);
  if (found != connections_.end()) lose(found, why);
}

void RankRoster::sweep() {
  sweep_.expires_after(options_.silence / 8);
  sweep_.async_wait([this](const error_code& error) {
    if (error) return;
    end_silent();
    sweep();
  });
}

// One after the other from the beginning: an end may cause others.
void RankRoster::end_silent() {
  const auto limit = now_here() - options_.silence;
  const auto silent = [limit](const Connection& connection) { return connection.heard < limit; };
  for (;;) {
    const auto found = std::ranges::find_if(connections_, silent);
    if (found == connections_.end()) return;
    end(found,
        (found->rank ? "it was silent for " : "no hello within ") + in_seconds(options_.silence));
  }
}

void RankRoster::send(std::uint32_t rank, const Message& message) {
  auto* connection = seats_[rank].connection;
  if (connection == nullptr) return;
  connection->socket->queue(message);
  if (std::exchange(connection->dirty, true)) return;
  dirty_.push_back(rank);
}

void RankRoster::flush() {
  for (const auto rank : dirty_) {
    auto* connection = seats_[rank].connection;
    if (connection == nullptr) continue;
    connection->dirty = false;
    connection->socket->flush();
  }
  dirty_.clear();
}

void RankRoster::farewell(const Message& message) {
  leaving_ = true;
  bool any = false;
  for (std::uint32_t rank = 0; rank < seats_.size(); ++rank) {
    any |= present(rank);
    send(rank, message);
  }
  flush();
  if (!any) handlers_.all_gone();
}

void RankRoster::close() {
  error_code ignored;
  acceptor_.close(ignored);
  sweep_.cancel();
  pause_.cancel();
  for (auto& connection : connections_) connection.socket->close();
  for (auto& seat : seats_) seat.connection = nullptr;
  connections_.clear();
}

void RankRoster::log(const std::string& line) const {
  if (options_.log) options_.log(line);
}

}  // namespace cohort
