// The driver of one policy in wall time: events in, messages out. No socket, no thread, no clock:
// the owner (runtime/job_server.h, or a test) delivers messages with their time of arrival and
// carries out what Outbox is told.
//
// Owns the CheckedPolicy and keeps the driver's promises of policies/policy.h: a worker leaves when
// its quota is done and its live synchronisations are over; a loss reaches the policy before the
// failures that it causes; communicators come from the same cache code as in the simulator. Draws
// each step's work from the same streams as the simulator and sends it along with the release.
#pragma once

#include <memory>
#include <string>

#include "policies/checked_policy.h"
#include "runtime/messages.h"
#include "runtime/run_record.h"
#include "runtime/run_setup.h"

namespace cohort {

// Carries out what the group generator decides. `member`: 0..workers+servers-1.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual void send(std::uint32_t member, const Message& message) = 0;
  virtual void set_timer(TimerId timer, Time at) = 0;
  virtual void cancel_timer(TimerId timer) = 0;
};

class GroupGenerator {
 public:
  // `outbox` and `log` (may be null) outlive this. Throws InputError as make_policy() does.
  GroupGenerator(const RunSetup& setup, Outbox& outbox, ActionLog* log);
  ~GroupGenerator();

  // All members are prepared: tells every worker to compute its first step. `at`, here and below,
  // is of the clock of the messages and never decreases; for the policy and in the record time
  // counts from here.
  void begin(Time at);
  // Ready, Done, Failed, Rendezvous, Diverged of a live member; the last one ends the run as
  // failed, once what is live has ended. Throws FrameError when the message cannot be true (a step
  // out of turn, an unknown synchronisation): the owner ends that connection.
  void receive(std::uint32_t member, const Message& message, Time at);
  // Once per member; `reason` names the rank. A lost server, or a loss under OnLoss::Fail, ends the
  // run; so does that of a worker that had left, when a synchronisation still needs it (policies
  // expect none: AD-PSGD's passive side, sources of a neighbour mix).
  void lose(std::uint32_t member, const std::string& reason, Time at);
  void fire(TimerId timer, Time at);
  // `seconds` is over, or somebody pressed Ctrl-C.
  void stop(const std::string& failure, Time at);

  [[nodiscard]] bool ended() const;
  // When begin() was called.
  [[nodiscard]] Time origin() const;
  // Who is waited for, for the message of a time-out.
  [[nodiscard]] std::string stuck() const;
  // Complete once ended(); `cpu` is the owner's to fill.
  [[nodiscard]] RunRecord& record();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
