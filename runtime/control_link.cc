#include "runtime/control_link.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "policies/errors.h"
#include "runtime/endpoint.h"
#include "runtime/framed_socket.h"

namespace cohort {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t kProbes = 16;
constexpr milliseconds kOneTry{2'000};
constexpr milliseconds kBetweenTries{50};
constexpr milliseconds kLinger{2'000};

Time here() { return Clock::now().time_since_epoch(); }

}  // namespace

// Until the constructor ends, all runs on the caller's thread; afterwards on `thread`.
struct ControlLink::State {
  explicit State(Options given)
      : options(std::move(given)), deadline(Clock::now() + options.connect_limit), heartbeat(io) {}

  Options options;
  Clock::time_point deadline;
  boost::asio::io_context io{1};
  boost::asio::steady_timer heartbeat;
  std::shared_ptr<FramedSocket> socket;
  std::uint32_t probes = 0;  // answered
  Time shortest = Time::max();
  std::atomic<Time::rep> offset{0};  // read by any thread
  std::vector<Message> early;        // came while the clock was measured
  std::optional<std::string> broken;
  bool open = false;
  bool silent = false;  // no more heartbeats
  Time heard{};         // last
  std::mutex ending;    // several threads may close
  std::thread thread;

  void connect() {
    const auto server = endpoint_of(options.server);
    error_code error = boost::asio::error::timed_out;
    while (Clock::now() < deadline) {
      tcp::socket attempt(io);
      error = try_once(attempt, server);
      if (!error) {
        socket = std::make_shared<FramedSocket>(std::move(attempt));
        return;
      }
      std::this_thread::sleep_for(kBetweenTries);
    }
    fail(error.message());
  }

  error_code try_once(tcp::socket& attempt, const tcp::endpoint& server) {
    std::optional<error_code> result;
    attempt.async_connect(server, [&result](const error_code& error) { result = error; });
    run_until(std::min(deadline, Clock::now() + kOneTry), [&result] { return result.has_value(); });
    if (result) return *result;
    attempt.close();
    run_until(Clock::time_point::max(), [&result] { return result.has_value(); });
    return boost::asio::error::timed_out;
  }

  template <typename Condition>
  void run_until(Clock::time_point limit, Condition condition) {
    io.restart();
    while (!condition() && io.run_one_until(limit) > 0) {
    }
  }

  void greet() {
    socket->start({.receive = [this](Message&& message) { receive(std::move(message)); },
                   .broken = [this](const std::string& why) { lost(why); }});
    send(options.hello);
    probe();
    run_until(deadline, [this] { return broken || probes == kProbes; });
    if (broken) fail("it ended the connection (" + *broken + ")");
    if (probes < kProbes) fail("it does not answer");
  }

  [[noreturn]] void fail(const std::string& why) {
    if (socket) socket->close();
    throw EnvironmentError("rank " + std::to_string(options.hello.rank) +
                           " cannot reach the group generator at " + options.server + ": " + why);
  }

  void probe() { send(message::ClockProbe{here()}); }

  void send(const Message& message) {
    socket->queue(message);
    socket->flush();
  }

  void receive(Message&& message) {
    heard = here();
    if (std::holds_alternative<message::Heartbeat>(message)) return;
    if (const auto* reply = std::get_if<message::ClockReply>(&message)) return measure(*reply);
    if (open) return options.receive(std::move(message));
    early.push_back(std::move(message));
  }

  void measure(const message::ClockReply& reply) {
    const auto now = here();
    const auto trip = now - reply.sent;
    if (trip < shortest) {
      shortest = trip;
      offset = (reply.here - (reply.sent + trip / 2)).count();
    }
    if (++probes < kProbes) probe();
  }

  void lost(const std::string& why) {
    stop_beating();
    if (open) return options.closed(why);
    broken = why;
  }

  void beat() {
    heartbeat.expires_after(options.heartbeat);
    heartbeat.async_wait([this](const error_code& error) {
      if (error || silent) return;
      if (here() - heard > options.silence) return give_up();
      send(message::Heartbeat{});
      beat();
    });
  }

  void give_up() {
    socket->close();
    lost("it was silent for " + std::to_string(options.silence.count()) + " ms");
  }

  // A beat that is due is already on its way and cannot be cancelled.
  void stop_beating() {
    silent = true;
    heartbeat.cancel();
  }

  void begin() {
    open = true;
    io.restart();
    beat();
    thread = std::thread([this] {
      for (auto& message : early) options.receive(std::move(message));
      io.run();
    });
  }

  void end() {
    const std::lock_guard lock(ending);
    if (!thread.joinable()) return;
    boost::asio::post(io, [this] {
      stop_beating();
      socket->close_when_written(kLinger);
    });
    thread.join();
  }
};

ControlLink::ControlLink(Options options) : state_(std::make_unique<State>(std::move(options))) {
  state_->connect();
  state_->greet();
  state_->begin();
}

ControlLink::~ControlLink() { close(); }

void ControlLink::send(const Message& message) { state_->send(message); }

Time ControlLink::now() const { return here() + Time{state_->offset.load()}; }

void ControlLink::close() { state_->end(); }

}  // namespace cohort
