// One run on a job's ranks, from the first Prepare to the last RunLeft: between the roster of ranks
// and the group generator.
//
// Preparing -> Running -> Leaving -> finished; with training Evaluating before Leaving, unless the
// run failed. Each phase has an end in time, apart from Running, in which whoever goes silent is
// lost. Belongs to the roster's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/group_generator.h"
#include "runtime/rank_roster.h"

namespace cohort {

class ServedRun final : private Outbox {
 public:
  struct Options {
    std::uint32_t number = 0;
    std::vector<std::uint32_t> ranks;  // of each member
    std::chrono::milliseconds start_limit{};
    // Posted: the run is over, what record() or error() say. Called once.
    std::function<void()> finished;
  };

  // `setup`, `log`: as for GroupGenerator; `setup` outlives this. Throws ContractError when the
  // members do not have a rank of the job each.
  ServedRun(boost::asio::io_context& io, RankRoster& roster, const RunSetup& setup, ActionLog* log,
            Options options);

  void begin();
  // Of a present rank, or one just lost; those that are not in the run are none of its business.
  void receive(std::uint32_t rank, const Message& message, Time at);
  void lose(std::uint32_t rank, const std::string& why);
  void interrupt(const std::string& why);

  [[nodiscard]] RunRecord& record() { return generator_.record(); }
  // What the policy or the setup broke; null when nothing.
  [[nodiscard]] std::exception_ptr error() const { return error_; }

 private:
  enum class Phase : std::uint8_t { Preparing, Running, Evaluating, Leaving, Finished };
  struct Seat {             // of one member
    bool told = false;      // has a Prepare
    bool prepared = false;  // has answered it
    bool left = false;      // has answered the RunEnd, or was lost
    std::optional<message::Learned> learned{};
  };

  void send(std::uint32_t member, const Message& message) override;
  void set_timer(TimerId timer, Time at) override;
  void cancel_timer(TimerId timer) override;

  void seat(std::uint32_t member);
  void prepare(std::uint32_t member, std::vector<std::uint8_t> rendezvous);
  void receive_preparing(std::uint32_t member, const Message& message);
  void receive_evaluating(std::uint32_t member, const Message& message);
  void receive_leaving(std::uint32_t member, const Message& message);
  void run();
  void limit_seconds();
  void fail(const std::string& why);
  void fail_for_loss(const std::string& sentence);
  // A call of the group generator, and what follows from it.
  template <typename Call>
  void drive(Call call);
  void evaluate();
  void pass_on(std::uint32_t member, const message::Rendezvous& drawn);
  void leave();
  void finish_when_all_left();
  void limit(std::chrono::milliseconds time, std::function<void()> late);
  [[nodiscard]] std::string name(std::uint32_t member) const;

  boost::asio::io_context& io_;
  RankRoster& roster_;
  const RunSetup& setup_;
  Options options_;
  GroupGenerator generator_;
  message::Evaluate evaluate_;
  bool passed_on_ = false;  // evaluate_, to all but the first
  Phase phase_ = Phase::Preparing;
  std::vector<Seat> seats_;
  std::unordered_map<std::uint32_t, std::uint32_t> member_of_;  // by rank
  boost::asio::steady_timer phase_limit_;
  boost::asio::steady_timer seconds_;
  std::unordered_map<std::uint64_t, boost::asio::steady_timer> timers_;
  std::exception_ptr error_;
};

}  // namespace cohort
