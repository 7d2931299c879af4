#include "experiments/rank_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <charconv>
#include <chrono>
#include <list>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "experiments/fingerprint.h"
#include "experiments/rank_meeting.h"
#include "experiments/spec_json.h"
#include "experiments/version.h"
#include "policies/errors.h"

namespace cohort {
namespace {

using boost::asio::ip::tcp;
using SteadyClock = std::chrono::steady_clock;
using boost::system::error_code;

constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::seconds kBeat{1};
constexpr std::chrono::seconds kHelloLimit{5};
constexpr std::chrono::seconds kLeaveLimit{5};
// Rows shorter than this are handed out one ahead, so that no rank waits for the next.
constexpr std::chrono::milliseconds kShortRow{100};

std::string address_of(const tcp::socket& socket) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? "a peer that is gone" : endpoint.address().to_string();
}

}  // namespace

struct RankServer::State {
  struct Held {
    std::size_t row;
    SteadyClock::time_point since;
  };

  struct Peer {
    explicit Peer(tcp::socket connected) : socket(std::move(connected)) {}
    tcp::socket socket;
    std::string input;
    std::optional<std::uint32_t> rank;  // none: no hello yet
    std::vector<Held> held;
    bool short_rows = false;
    bool told_end = false;
    SteadyClock::time_point since = SteadyClock::now();
    SteadyClock::time_point beat = SteadyClock::now();
  };
  using PeerPointer = std::shared_ptr<Peer>;  // pending reads hold it

  State(RowQueue& queue, const std::vector<PlannedRow>& rows, Keep keep, Options options)
      : queue(queue), rows(rows), keep(std::move(keep)), options(std::move(options)) {}

  void listen();
  void accept();
  void read(const PeerPointer& peer);
  [[nodiscard]] bool hear(Peer& peer, std::string_view line);
  [[nodiscard]] bool greet(Peer& peer, std::string_view line);
  [[nodiscard]] bool take_row(Peer& peer, std::string_view line);
  // False: the peer does not read, or is gone.
  [[nodiscard]] bool send(Peer& peer, const std::string& line);
  [[nodiscard]] bool attend(Peer& peer);
  [[nodiscard]] bool hand_out(Peer& peer);
  void lose(const PeerPointer& peer, const std::string& why);
  void tick();
  [[nodiscard]] bool all_gone() const;

  RowQueue& queue;
  const std::vector<PlannedRow>& rows;
  Keep keep;
  Options options;
  Meeting meeting;
  boost::asio::io_context io;
  tcp::acceptor acceptor{io};
  boost::asio::steady_timer timer{io};
  std::list<PeerPointer> peers;
  std::set<std::uint32_t> seen;  // ranks that came
  bool ended = false;
  SteadyClock::time_point began = SteadyClock::now();
  SteadyClock::time_point end{};
  std::chrono::milliseconds latest{};
  std::jthread thread;  // runs io; owns all above from its start on
};

void RankServer::State::listen() {
  meeting = meeting_here(options.one_host);
  const auto address = options.one_host ? boost::asio::ip::address_v4::loopback()
                                        : boost::asio::ip::address_v4::any();
  try {
    const tcp::endpoint endpoint(address, 0);
    acceptor.open(endpoint.protocol());
    acceptor.bind(endpoint);
    acceptor.listen();
    meeting.port = acceptor.local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    throw EnvironmentError(fmt::format("cannot listen for the other ranks: {}", error.what()));
  }
  write_meeting(meeting, meeting_file(options.out));
}

void RankServer::State::accept() {
  acceptor.async_accept([this](error_code error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (!error) {
      const auto peer = std::make_shared<Peer>(std::move(socket));
      error_code ignored;
      peer->socket.set_option(tcp::no_delay(true), ignored);
      peer->socket.non_blocking(true, ignored);
      peers.push_back(peer);
      read(peer);
    }
    accept();
  });
}

void RankServer::State::read(const PeerPointer& peer) {
  const auto longest = peer->rank ? kLongestRowLine : kLongestHello;
  boost::asio::async_read_until(peer->socket, boost::asio::dynamic_buffer(peer->input, longest),
                                '\n', [this, peer](error_code error, std::size_t length) {
                                  if (!peer->socket.is_open()) return;  // lost meanwhile
                                  if (error) return lose(peer, error.message());
                                  const auto line = peer->input.substr(0, length - 1);
                                  peer->input.erase(0, length);
                                  hear(*peer, line) ? read(peer)
                                                    : lose(peer, "said what makes no sense here");
                                });
}

bool RankServer::State::hear(Peer& peer, std::string_view line) {
  return peer.rank ? take_row(peer, line) : greet(peer, line);
}

bool RankServer::State::greet(Peer& peer, std::string_view line) {
  for (std::uint32_t rank = 1; rank < options.ranks; ++rank) {
    if (line != hello_line(meeting, rank, options.plan)) continue;
    peer.rank = rank;
    seen.insert(rank);
    return send(peer, "welcome " + meeting.answer);
  }
  if (line.find(meeting.secret) != std::string_view::npos)
    static_cast<void>(send(peer, "refused: another spec, setting, version or rank than rank 0's"));
  return false;
}

bool RankServer::State::take_row(Peer& peer, std::string_view line) {
  constexpr std::string_view kDone = "done ";
  if (!line.starts_with(kDone)) return false;
  line.remove_prefix(kDone.size());
  std::size_t row = 0;
  const auto [end_of_number, error] = std::from_chars(line.data(), line.data() + line.size(), row);
  const auto held = std::ranges::find(peer.held, row, &Held::row);
  if (error != std::errc{} || held == peer.held.end() || *end_of_number != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(end_of_number - line.data()) + 1);
  if (!line.starts_with('{') || !Json::accept(line)) return false;
  peer.short_rows = SteadyClock::now() - held->since < kShortRow;
  peer.held.erase(held);
  try {
    keep(row, std::string(line));
  } catch (...) {
    queue.fail(std::current_exception());
  }
  return true;
}

bool RankServer::State::send(Peer& peer, const std::string& line) {
  error_code error;
  const auto text = line + "\n";
  return peer.socket.write_some(boost::asio::buffer(text), error) == text.size() && !error;
}

bool RankServer::State::hand_out(Peer& peer) {
  while (!ended && peer.held.size() < (peer.short_rows ? 2U : 1U)) {
    const auto number = queue.lend();
    if (!number) return true;
    peer.held.push_back({*number, SteadyClock::now()});
    const auto& row = rows[*number];
    if (!send(peer, fmt::format("row {} {} {} {}", *number, row.cell, row.policy, row.seed)))
      return false;
  }
  return true;
}

bool RankServer::State::attend(Peer& peer) {
  if (ended) {
    if (!std::exchange(peer.told_end, true)) return send(peer, "end");
    return true;
  }
  if (SteadyClock::now() - peer.beat > kBeat) {
    peer.beat = SteadyClock::now();
    if (!send(peer, "beat")) return false;
  }
  return hand_out(peer);
}

void RankServer::State::lose(const PeerPointer& peer, const std::string& why) {
  if (!peer->rank) {
    options.log(fmt::format("refused a connection from {}: {}", address_of(peer->socket), why));
  } else if (!ended) {
    options.log(fmt::format("rank {} is lost ({}); {} rows of it go to others", *peer->rank, why,
                            peer->held.size()));
  }
  for (const auto& held : peer->held) queue.give_back(held.row);
  error_code ignored;
  peer->socket.close(ignored);
  peers.remove(peer);
}

void RankServer::State::tick() {
  timer.expires_after(kTick);
  timer.async_wait([this](error_code error) {
    if (error) return;
    const auto now = SteadyClock::now();
    for (const auto& peer : std::vector<PeerPointer>(peers.begin(), peers.end())) {
      if (!peer->rank && now - peer->since > kHelloLimit) {
        lose(peer, "said no hello in time");
      } else if (peer->rank && !attend(*peer)) {
        lose(peer, "does not read");
      }
    }
    if (ended && all_gone()) return io.stop();
    tick();
  });
}

// Or those that are missing have had their time.
bool RankServer::State::all_gone() const {
  const auto now = SteadyClock::now();
  const bool open =
      std::ranges::any_of(peers, [](const auto& peer) { return peer->rank.has_value(); });
  if (open) return now - end > kLeaveLimit;
  return seen.size() + 1 >= options.ranks || now - began > latest;
}

RankServer::RankServer(RowQueue& queue, const std::vector<PlannedRow>& rows, Keep keep,
                       Options options)
    : state_(std::make_unique<State>(queue, rows, std::move(keep), std::move(options))) {
  state_->listen();
  state_->accept();
  state_->tick();
  state_->thread = std::jthread([state = state_.get()] { state->io.run(); });
}

RankServer::~RankServer() {
  state_->io.stop();
  if (state_->thread.joinable()) state_->thread.join();
  std::error_code ignored;
  std::filesystem::remove(meeting_file(state_->options.out), ignored);
}

void RankServer::dismiss(std::chrono::milliseconds latest) {
  boost::asio::post(state_->io, [state = state_.get(), latest] {
    state->ended = true;
    state->latest = latest;
    state->end = SteadyClock::now();
  });
  state_->thread.join();
}

std::uint64_t plan_digest(const std::vector<PlannedRow>& plan) {
  Fingerprint digest;
  digest.add(version());
  for (const auto& row : plan) digest.add(fmt::format_int(row.key).c_str());
  return digest.value();
}

}  // namespace cohort
