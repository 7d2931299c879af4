// The synchronisations that a member takes part in at this moment, in the order of their starts:
// side by side, or one at a time where the transport is ordered. Sync thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "runtime/operation.h"

namespace cohort {

class LiveOperations {
 public:
  struct Hooks {
    std::function<Time()> now;
    std::function<void(const Message&)> send;  // Done, Failed, Rendezvous
    std::function<void()> await_snapshots;     // before a part in the background begins
  };

  // `rendezvous`: whether new communicators need one. All outlive this.
  LiveOperations(Replica& replica, Transport& transport, bool rendezvous, Hooks hooks);

  void start(const message::Start& start, Time arrived);
  void meet(const message::Rendezvous& rendezvous);
  void drop(CommunicatorId id);
  // Ends this member's part with Failed, when it still takes part.
  void abort(SyncId sync);
  // Cancels all and drops all communicators; reports nothing.
  void clear();

  // One look at each. Whether one began or ended. Throws EnvironmentError.
  bool poll();
  [[nodiscard]] bool empty() const { return live_.empty(); }
  // Whether poll() could get on without a message coming first.
  [[nodiscard]] bool can_progress() const;

 private:
  struct Live {
    message::Start start;
    Time arrived{};
    std::unique_ptr<Operation> operation;  // null: not yet begun
  };

  [[nodiscard]] bool draws_rendezvous(const message::Start& start) const;
  [[nodiscard]] bool may_begin(const Live& live) const;
  void begin(Live& live);
  // Whether it is over.
  bool look_at(Live& live);
  void report(const Live& live);

  Replica& replica_;
  Transport& transport_;
  bool rendezvous_;
  Hooks hooks_;
  std::list<Live> live_;
  std::map<CommunicatorId, std::vector<std::uint8_t>> met_;  // came, not yet used
  std::set<CommunicatorId> communicators_;                   // made and not dropped
};

}  // namespace cohort
