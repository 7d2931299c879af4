#include "runtime/served_run.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <span>
#include <utility>

#include "policies/errors.h"
#include "runtime/codec.h"
#include "runtime/learning_record.h"
#include "training/evaluation.h"
#include "training/training_rules.h"

namespace cohort {
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;
using Instant = std::chrono::steady_clock::time_point;

// Whoever is lost meanwhile is noticed sooner.
constexpr milliseconds kEvaluateLimit{600'000};
constexpr milliseconds kLeaveLimit{5'000};
// After a failure some may be stuck for good.
constexpr milliseconds kFailedLeaveLimit{1'500};

ServerUpdate server_update(const RunSetup& setup) {
  if (setup.topology.servers() == 0) return ServerUpdate::None;
  return setup.options.get<std::string>("mode") == "async" ? ServerUpdate::EveryPush
                                                           : ServerUpdate::MeanGradient;
}

// Worker-steps that the stop rule allows.
std::optional<std::uint64_t> worker_steps(const RunSetup& setup) {
  auto steps = setup.total_steps;
  if (setup.steps_per_worker)
    steps =
        std::min(steps.value_or(UINT64_MAX), *setup.steps_per_worker * setup.topology.workers());
  return steps;
}

std::optional<TrainingTerms> training_terms(const RunSetup& setup) {
  if (!setup.training) return std::nullopt;
  const TrainingRules rules(setup.options, setup.training->training.sgd);
  TrainingTerms terms{.plan = setup.plan,
                      .order = rules.order,
                      .averaged = rules.averaged,
                      .average_momentum = rules.velocity};
  const auto apart = point_spacing(setup.training->measure, worker_steps(setup), setup.seconds);
  if (const auto* steps = std::get_if<std::uint64_t>(&apart)) terms.steps_apart = *steps;
  if (const auto* time = std::get_if<Time>(&apart)) terms.time_apart = *time;
  return terms;
}

Instant instant(Time at) { return Instant(std::chrono::duration_cast<Instant::duration>(at)); }

}  // namespace

ServedRun::ServedRun(boost::asio::io_context& io, RankRoster& roster, const RunSetup& setup,
                     ActionLog* log, Options options)
    : io_(io),
      roster_(roster),
      setup_(setup),
      options_(std::move(options)),
      generator_(setup, *this, log),
      seats_(options_.ranks.size()),
      phase_limit_(io),
      seconds_(io) {
  const auto members = setup.topology.workers() + setup.topology.servers();
  if (options_.ranks.size() != members)
    throw ContractError("a run of " + std::to_string(members) + " members was given " +
                        std::to_string(options_.ranks.size()) + " ranks");
  for (std::uint32_t member = 0; member < members; ++member) seat(member);
}

void ServedRun::seat(std::uint32_t member) {
  const auto rank = options_.ranks[member];
  if (rank >= roster_.size())
    throw ContractError("a run was given rank " + std::to_string(rank) + " of a job of " +
                        std::to_string(roster_.size()));
  if (!member_of_.emplace(rank, member).second)
    throw ContractError("a run was given rank " + std::to_string(rank) + " twice");
}

void ServedRun::begin() {
  for (const auto rank : options_.ranks)
    if (!roster_.present(rank)) return fail_for_loss(roster_.absence(rank));
  limit(options_.start_limit, [this] {
    std::string who;
    for (std::uint32_t member = 0; member < seats_.size(); ++member)
      if (seats_[member].told && !seats_[member].prepared)
        who += (who.empty() ? "" : ", ") + name(member);
    fail("not prepared within " + std::to_string(options_.start_limit.count()) +
         " ms (run.start_limit): " + who);
  });
  prepare(0, {});
}

void ServedRun::prepare(std::uint32_t member, std::vector<std::uint8_t> rendezvous) {
  seats_[member].told = true;
  send(member, message::Prepare{.run = options_.number,
                                .member = member,
                                .workers = setup_.topology.workers(),
                                .ranks = options_.ranks,
                                .entries = setup_.entries,
                                .seed = setup_.seed,
                                .verify = setup_.verify,
                                .publish = setup_.policy->reads_neighbours,
                                .update = server_update(setup_),
                                .rendezvous = std::move(rendezvous),
                                .training = training_terms(setup_)});
}

void ServedRun::receive(std::uint32_t rank, const Message& message, Time at) {
  const auto found = member_of_.find(rank);
  if (found == member_of_.end()) throw FrameError("a message from a rank that is in no run");
  const auto member = found->second;
  switch (phase_) {
    case Phase::Preparing:
      return receive_preparing(member, message);
    case Phase::Running:
      return drive([&] { generator_.receive(member, message, at); });
    case Phase::Evaluating:
      return receive_evaluating(member, message);
    case Phase::Leaving:
      return receive_leaving(member, message);
    case Phase::Finished:
      throw FrameError("a message while there is no run");
  }
}

void ServedRun::receive_preparing(std::uint32_t member, const Message& message) {
  auto& seat = seats_[member];
  if (const auto* drawn = std::get_if<message::Rendezvous>(&message)) {
    const bool told = std::ranges::all_of(seats_, &Seat::told);
    if (member != 0 || drawn->communicator != kAllMembers || (told && seats_.size() > 1))
      throw FrameError("a rendezvous out of turn");
    for (std::uint32_t other = 1; other < seats_.size(); ++other) prepare(other, drawn->bytes);
    return;
  }
  const auto* prepared = std::get_if<message::Prepared>(&message);
  if (prepared == nullptr || prepared->run != options_.number || !seat.told || seat.prepared)
    throw FrameError("a message out of turn while a run is prepared");
  seat.prepared = true;
  if (std::ranges::all_of(seats_, &Seat::prepared)) run();
}

void ServedRun::run() {
  phase_limit_.cancel();
  phase_ = Phase::Running;
  if (setup_.seconds) limit_seconds();
  drive([this] { generator_.begin(now_here()); });
}

void ServedRun::limit_seconds() {
  seconds_.expires_after(*setup_.seconds);
  seconds_.async_wait([this](const error_code& error) {
    if (error || phase_ != Phase::Running) return;
    drive([this] { generator_.stop("", now_here()); });
    roster_.flush();
  });
}

template <typename Call>
void ServedRun::drive(Call call) {
  try {
    call();
  } catch (const FrameError&) {
    throw;
  } catch (const std::exception& error) {
    error_ = std::current_exception();
    generator_.record().failure = error.what();
    return leave();
  }
  if (generator_.ended()) evaluate();
}

void ServedRun::lose(std::uint32_t rank, const std::string& why) {
  const auto found = member_of_.find(rank);
  if (found == member_of_.end() || phase_ == Phase::Finished) return;
  const auto member = found->second;
  seats_[member].left = true;
  if (phase_ == Phase::Preparing) {
    fail_for_loss(name(member) + " was lost before the run began: " + why);
  } else if (phase_ == Phase::Running) {
    drive([&] { generator_.lose(member, why, now_here()); });
  } else if (phase_ == Phase::Evaluating) {
    fail_for_loss(name(member) + " was lost while the learning curve was evaluated: " + why);
  } else {
    // After a loss, those that are stuck because of it add nothing. Why the run ended comes first.
    const auto ended = record().failure.empty() ? "" : record().failure + "; ";
    if (record().lost.empty())
      record().lost.push_back(ended + name(member) + " was lost when the run had ended: " + why);
    finish_when_all_left();
  }
}

void ServedRun::fail_for_loss(const std::string& sentence) {
  record().lost.push_back(sentence);
  fail(sentence);
}

void ServedRun::interrupt(const std::string& why) {
  if (phase_ == Phase::Preparing || phase_ == Phase::Evaluating) return fail(why);
  if (phase_ == Phase::Running) drive([&] { generator_.stop(why, now_here()); });
}

void ServedRun::fail(const std::string& why) {
  record().failure = why;
  leave();
}

void ServedRun::evaluate() {
  if (!setup_.training || !record().failure.empty()) return leave();
  phase_ = Phase::Evaluating;
  seconds_.cancel();
  evaluate_ = {.run = options_.number, .members = {}};
  for (std::uint32_t member = 0; member < seats_.size(); ++member)
    if (roster_.present(options_.ranks[member])) evaluate_.members.push_back(member);
  send(evaluate_.members.front(), evaluate_);
  limit(kEvaluateLimit, [this] { fail("the learning curve was not evaluated in time"); });
}

void ServedRun::receive_evaluating(std::uint32_t member, const Message& message) {
  const auto* drawn = std::get_if<message::Rendezvous>(&message);
  if (drawn != nullptr && drawn->communicator == kAllMembers) return pass_on(member, *drawn);
  const auto* learned = std::get_if<message::Learned>(&message);
  if (learned == nullptr) return;  // said before it heard of the end
  if (learned->run != options_.number || seats_[member].learned)
    throw FrameError("a learning curve out of turn");
  seats_[member].learned = *learned;
  std::vector<std::optional<message::Learned>> all;
  for (std::uint32_t other = 0; other < seats_.size(); ++other) {
    if (!seats_[other].learned && roster_.present(options_.ranks[other])) return;
    all.push_back(seats_[other].learned);
  }
  try {
    record().learning = learning_of(setup_, record(), generator_.origin(), all);
  } catch (const InputError& diverged) {
    record().failure = diverged.what();
  }
  leave();
}

void ServedRun::pass_on(std::uint32_t member, const message::Rendezvous& drawn) {
  const auto& members = evaluate_.members;
  if (member != members.front() || std::exchange(passed_on_, true))
    throw FrameError("a rendezvous out of turn");
  evaluate_.rendezvous = drawn.bytes;
  for (const auto other : std::span(members).subspan(1)) send(other, evaluate_);
}

void ServedRun::leave() {
  phase_ = Phase::Leaving;
  seconds_.cancel();
  timers_.clear();
  record().cpu.assign(seats_.size(), Time{});
  for (std::uint32_t member = 0; member < seats_.size(); ++member) {
    auto& seat = seats_[member];
    seat.left |= !seat.told || !roster_.present(options_.ranks[member]);
    if (!seat.left) send(member, message::RunEnd{options_.number, record().failure});
  }
  const auto longest = record().failure.empty() ? kLeaveLimit : kFailedLeaveLimit;
  limit(longest, [this] {
    for (std::uint32_t member = 0; member < seats_.size(); ++member)
      if (!seats_[member].left)
        roster_.drop(options_.ranks[member], "it did not answer the end of the run");
  });
  finish_when_all_left();
}

void ServedRun::receive_leaving(std::uint32_t member, const Message& message) {
  auto& seat = seats_[member];
  const auto* answer = std::get_if<message::RunLeft>(&message);
  if (seat.left) throw FrameError("a message after the end of the run");
  if (answer == nullptr) return;  // said before it heard of the end
  if (answer->run != options_.number) throw FrameError("it leaves another run");
  seat.left = true;
  record().cpu[member] = answer->cpu;
  finish_when_all_left();
}

void ServedRun::finish_when_all_left() {
  if (phase_ != Phase::Leaving || !std::ranges::all_of(seats_, &Seat::left)) return;
  phase_ = Phase::Finished;
  phase_limit_.cancel();
  boost::asio::post(io_, options_.finished);
}

void ServedRun::limit(milliseconds time, std::function<void()> late) {
  phase_limit_.expires_after(time);
  phase_limit_.async_wait([this, phase = phase_, late = std::move(late)](const error_code& error) {
    if (error || phase != phase_) return;
    late();
    roster_.flush();
  });
}

std::string ServedRun::name(std::uint32_t member) const {
  const auto workers = setup_.topology.workers();
  const auto role = member < workers ? "worker " + std::to_string(member)
                                     : "server " + std::to_string(member - workers);
  return role + ", " + roster_.name(options_.ranks[member]);
}

void ServedRun::send(std::uint32_t member, const Message& message) {
  roster_.send(options_.ranks[member], message);
}

void ServedRun::set_timer(TimerId timer, Time at) {
  auto& waiting = timers_.emplace(index(timer), io_).first->second;
  waiting.expires_at(instant(at));
  waiting.async_wait([this, timer](const error_code& error) {
    if (error || phase_ != Phase::Running || timers_.erase(index(timer)) == 0) return;
    drive([&] { generator_.fire(timer, now_here()); });
    roster_.flush();
  });
}

void ServedRun::cancel_timer(TimerId timer) { timers_.erase(index(timer)); }

}  // namespace cohort
