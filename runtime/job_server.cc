#include "runtime/job_server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <optional>
#include <random>
#include <thread>

#include "policies/errors.h"
#include "runtime/endpoint.h"
#include "runtime/rank_roster.h"
#include "runtime/served_run.h"

namespace cohort {
namespace {

using boost::system::error_code;

constexpr std::chrono::milliseconds kFarewell{2'000};

Secret draw_secret() {
  std::random_device device;
  Secret secret;
  for (auto& byte : secret) byte = static_cast<std::uint8_t>(device());
  return secret;
}

}  // namespace

// All but `thread` and what never changes belongs to the thread.
struct JobServer::State {
  explicit State(Options given)
      : options(std::move(given)),
        secret(draw_secret()),
        roster(io, options, secret),
        address(text_of(roster.endpoint())),
        limit(io) {
    roster.begin({.joined = [this](std::uint32_t) { check_gathering(); },
                  .receive = [this](std::uint32_t rank, Message&& message,
                                    Time at) { receive(rank, message, at); },
                  .lost = [this](std::uint32_t rank, const std::string& why) { lost(rank, why); },
                  .all_gone = [this] { resolve(parted); }});
    thread = std::thread([this] { io.run(); });
  }
  ~State() {
    boost::asio::post(io, [this] {
      roster.close();
      limit.cancel();
      work.reset();
      io.stop();
    });
    thread.join();
  }

  Options options;
  Secret secret;
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  RankRoster roster;
  std::string address;
  boost::asio::steady_timer limit;
  std::uint32_t runs = 0;
  // A finished one stays until the next begins: handlers of its timers may still be queued.
  std::optional<ServedRun> run;
  // What a caller waits for.
  std::optional<std::promise<std::vector<RankFacts>>> gathering;
  std::optional<std::promise<RunRecord>> running;
  std::optional<std::promise<void>> parted;
  std::thread thread;

  // Runs `begin` on the thread and waits until the promise in `slot` is kept.
  template <typename T, typename Begin>
  T await(std::optional<std::promise<T>>& slot, Begin begin) {
    std::promise<T> promise;
    auto result = promise.get_future();
    boost::asio::post(io, [this, &slot, begin, promise = std::move(promise)]() mutable {
      slot = std::move(promise);
      begin();
      roster.flush();
    });
    return result.get();
  }
  template <typename T, typename... Value>
  static void resolve(std::optional<std::promise<T>>& slot, Value&&... value) {
    if (!slot) return;
    slot->set_value(std::forward<Value>(value)...);
    slot.reset();
  }
  template <typename T>
  static void reject(std::optional<std::promise<T>>& slot, std::exception_ptr error) {
    if (!slot) return;
    slot->set_exception(std::move(error));
    slot.reset();
  }

  void within(std::chrono::milliseconds time, std::function<void()> late) {
    limit.expires_after(time);
    limit.async_wait([late = std::move(late)](const error_code& error) {
      if (!error) late();
    });
  }

  void gather() {
    within(options.start_limit, [this] { reject_gathering(missing()); });
    check_gathering();
  }

  void reject_gathering(const std::string& why) {
    if (!gathering) return;
    limit.cancel();
    reject(gathering, std::make_exception_ptr(EnvironmentError(why)));
  }

  void check_gathering() {
    if (!gathering) return;
    std::vector<RankFacts> facts;
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
      if (!roster.present(rank)) return;
      facts.push_back(roster.facts(rank));
    }
    limit.cancel();
    resolve(gathering, std::move(facts));
  }

  std::string missing() const {
    std::string who;
    std::uint32_t count = 0;
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
      if (roster.present(rank)) continue;
      ++count;
      if (count <= 8) who += (count == 1 ? "" : ", ") + std::to_string(rank);
    }
    if (count > 8) who += ", ...";
    return std::to_string(count) + " of " + std::to_string(options.ranks) +
           " ranks did not connect to " + address + " within " +
           std::to_string(options.start_limit.count()) + " ms: " + who;
  }

  void receive(std::uint32_t rank, const Message& message, Time at) {
    if (!run) throw FrameError("a message while there is no run");
    run->receive(rank, message, at);
  }

  void lost(std::uint32_t rank, const std::string& why) {
    if (run) run->lose(rank, why);
    reject_gathering(why);
  }

  void begin_run(const RunSetup& setup, const std::vector<std::uint32_t>& ranks, ActionLog* log) {
    try {
      run.emplace(io, roster, setup, log,
                  ServedRun::Options{.number = ++runs,
                                     .ranks = ranks,
                                     .start_limit = options.start_limit,
                                     .finished = [this] { end_run(); }});
    } catch (...) {
      return reject(running, std::current_exception());
    }
    run->begin();
  }

  void end_run() {
    const auto error = run->error();
    auto record = std::move(run->record());
    error ? reject(running, error) : resolve(running, std::move(record));
  }

  void interrupt(const std::string& why) {
    reject_gathering(why);
    if (run) run->interrupt(why);
    roster.flush();
  }

  void part(const std::string& failure) {
    within(kFarewell, [this] { resolve(parted); });
    roster.farewell(message::JobEnd{failure});
  }
};

JobServer::JobServer(Options options) : state_(std::make_unique<State>(std::move(options))) {}

JobServer::~JobServer() = default;

std::string JobServer::address() const { return state_->address; }

const Secret& JobServer::secret() const { return state_->secret; }

std::vector<RankFacts> JobServer::await_ranks() {
  return state_->await(state_->gathering, [this] { state_->gather(); });
}

RunRecord JobServer::run(const RunSetup& setup, const std::vector<std::uint32_t>& ranks,
                         ActionLog* log) {
  return state_->await(state_->running, [&] { state_->begin_run(setup, ranks, log); });
}

void JobServer::give_up_waiting(const std::string& why) {
  boost::asio::post(state_->io, [this, why] { state_->reject_gathering(why); });
}

void JobServer::interrupt(const std::string& why) {
  boost::asio::post(state_->io, [this, why] { state_->interrupt(why); });
}

void JobServer::end(const std::string& failure) {
  state_->await(state_->parted, [&] { state_->part(failure); });
}

}  // namespace cohort
