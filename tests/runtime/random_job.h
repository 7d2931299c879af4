// Members of a run without sockets: each answers the group generator at random times, as real ones
// may, and complains when it is told something that no member could do.
//
// Virtual nanoseconds; seeded. A member that is told to abort answers after a while, or has already
// answered. Lost members say nothing more.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "policies/random.h"
#include "runtime/group_generator.h"

namespace cohort {

// Keeps a log and feeds it to a fresh policy.
class KeptLog final : public ActionLog {
 public:
  void record(const Event& event, const Actions& actions) override;
  // The first event that a fresh policy answers otherwise, or "".
  [[nodiscard]] std::string difference(const RunSetup& setup) const;
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }

 private:
  std::vector<Event> events_;
  std::vector<std::string> lines_;
};

class RandomJob final : public Outbox {
 public:
  struct Loss {
    std::uint32_t member = 0;
    Time at{};
  };

  RandomJob(const RunSetup& setup, std::uint64_t seed, std::vector<Loss> losses = {});

  // Until the run has ended or nothing is left to happen.
  void run();

  [[nodiscard]] RunRecord& record() { return generator_.record(); }
  [[nodiscard]] bool ended() const { return generator_.ended(); }
  [[nodiscard]] const KeptLog& log() const { return log_; }
  // What members were told and could not do.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
  // Off by so much is a mean that members report; with verify.
  double wrong = 0;

 private:
  struct Fake {
    bool lost = false;
    std::set<std::uint64_t> busy;                 // synchronisations
    std::map<std::uint64_t, std::uint32_t> used;  // communicator of each of these
    std::set<std::uint32_t> communicators;
  };
  struct Happening {
    std::uint32_t member = 0;
    Message message = message::Heartbeat{};  // a heartbeat: none
    std::optional<TimerId> timer = std::nullopt;
    bool loss = false;
  };

  void send(std::uint32_t member, const Message& message) override;
  void set_timer(TimerId timer, Time at) override;
  void cancel_timer(TimerId timer) override { timers_.erase(index(timer)); }

  void take(std::uint32_t member, const message::Release& release);
  void take(std::uint32_t member, const message::Start& start);
  void take(std::uint32_t member, const message::Abort& abort);
  void take(std::uint32_t member, const message::Drop& drop);
  void take(std::uint32_t member, const message::Rendezvous& rendezvous);
  void use(std::uint32_t member, const message::Start& start);
  [[nodiscard]] message::Done done(std::uint32_t member, const message::Start& start, Time began,
                                   Time ended) const;
  [[nodiscard]] static bool uses(const Fake& fake, CommunicatorId id);
  void happen(const Happening& happening);
  void schedule(Time delay, Happening happening);
  [[nodiscard]] Time some(std::uint32_t below) { return Time{stream_.below(below)}; }
  void complain(std::uint32_t member, const std::string& what);

  RunSetup setup_;
  Stream stream_;
  KeptLog log_;
  GroupGenerator generator_;
  std::vector<Fake> fakes_;
  std::map<std::tuple<Time, std::uint32_t, std::uint64_t>, Happening> queue_;
  std::set<std::uint64_t> timers_;
  std::uint64_t scheduled_ = 0;
  Time now_{1'000'000'000};
  std::vector<std::string> complaints_;
};

// One policy, `workers` on as many nodes as given, verified, with a quota.
[[nodiscard]] RunSetup plain_setup(const std::string& policy,
                                   const std::vector<std::uint32_t>& gpus_per_node,
                                   std::uint64_t steps, const Options& given = {});

}  // namespace cohort
