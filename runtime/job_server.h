// The group generator's TCP server: one job of ranks, and one run after the other on them.
//
// A rank connects, says Hello, asks for the clock, and stays connected for the whole job:
//   rank                                server
//   Hello (secret, rank, host)  ->
//   ClockProbe ...              ->      ClockReply ...
//                               <-      Prepare             (per run; to the first member first)
//   Rendezvous of all members   ->                          (the first member, at once)
//   Prepared                    ->
//                               <-      Release, Start, Rendezvous, Drop, Abort
//   Ready, Done, Failed, ...    ->
//                               <-      Evaluate            (with training, unless the run failed;
//   Rendezvous of those left    ->                           to the first of them first)
//   Learned                     ->
//                               <-      RunEnd
//   RunLeft                     ->
//                               <-      JobEnd              (then both close)
// A frame that is garbage, oversized, truncated, of another version, out of order, or a hello with
// another secret or rank ends that connection with a logged reason and disturbs nobody; when it was
// a known rank's, the rank is lost. A rank that is silent for `silence` is lost.
// Heartbeats are answered, so that a rank notices when this side falls silent.
//
// One thread (started here) owns sockets, timers and the policy. The public functions are called
// from one other thread and wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "policies/checked_policy.h"
#include "runtime/messages.h"
#include "runtime/run_record.h"
#include "runtime/run_setup.h"

namespace cohort {

struct RankFacts {
  std::string host;
  std::string device;
  std::uint64_t process = 0;
};

class JobServer {
 public:
  struct Options {
    std::string listen = "127.0.0.1";  // as runtime/endpoint.h reads it
    std::uint32_t ranks = 1;
    std::chrono::milliseconds start_limit{30'000};
    std::chrono::milliseconds silence{5'000};
    // Refusals and losses, one line each; may be empty.
    std::function<void(const std::string&)> log{};
  };

  // Listens. Throws EnvironmentError (address in use, not ours), InputError (not an address).
  explicit JobServer(Options options);
  ~JobServer();

  // "address:port" for the ranks.
  [[nodiscard]] std::string address() const;
  [[nodiscard]] const Secret& secret() const;

  // Waits until every rank has said hello. Throws EnvironmentError that names the missing ones.
  [[nodiscard]] std::vector<RankFacts> await_ranks();
  // Ends that wait with EnvironmentError(why), if it is under way; any thread.
  void give_up_waiting(const std::string& why);

  // One run. `ranks`: of each member of the setup's topology. What goes wrong with ranks ends up in
  // the record (`failure`, `lost`); with OnLoss::Continue later runs need all their ranks alive,
  // else they fail at once. `log` may be null. Throws ContractError when the policy broke a
  // promise.
  [[nodiscard]] RunRecord run(const RunSetup& setup, const std::vector<std::uint32_t>& ranks,
                              ActionLog* log);
  // Ends the run in progress as failed; any thread, also a signal watcher's.
  void interrupt(const std::string& why);
  // Tells all ranks that the job is over and waits, a bounded time, until they have closed.
  void end(const std::string& failure);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
