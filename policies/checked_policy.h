// Verifies both lists of promises of policies/policy.h in every run, simulated or real, and feeds
// the event/action log.
//
// Wraps a policy; is one. A broken promise throws ContractError that names the promise (D1..D7,
// P1..P7), the worker or synchronisation and the time. Costs a few nanoseconds a step and tens of
// bytes a worker; allocates nothing once warm. P1 is verified by replay and P3 by the conformance
// tests: neither can be seen from inside one run; see `stuck()`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "policies/policy.h"
#include "policies/topology.h"

namespace cohort {

// Sees every event with the actions that answered it.
class ActionLog {
 public:
  virtual ~ActionLog() = default;
  virtual void record(const Event& event, const Actions& actions) = 0;
};

class CheckedPolicy final : public Policy {
 public:
  // `log` may be null and must outlive this.
  CheckedPolicy(std::unique_ptr<Policy> policy, const Topology& topology, ActionLog* log = nullptr);
  ~CheckedPolicy() override;

  void step(const Event& event, Actions& out) override;
  void expect(WorkerId worker, unsigned step) const override;
  void expect_end(SyncId sync, unsigned step) const override;

  // Workers that are ready and in no live synchronisation; when the driver has no event left to
  // deliver, any such worker is starved (P3).
  [[nodiscard]] std::uint32_t waiting() const;
  // A sentence for a message: who waits, since which step, what is live.
  [[nodiscard]] std::string stuck() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
