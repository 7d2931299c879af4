// The event/action log of a run: one JSON object per line, each event with the actions that
// answered it.
//
//   {"at":NS,"event":"joined|left|lost","worker":W}
//   {"at":NS,"event":"ready","worker":W,"step":S,"compute":NS[,"early":true]}
//   {"at":NS,"event":"done","sync":ID,"transfer":NS[,"squared_distances":[...]]}
//   {"at":NS,"event":"failed","sync":ID}
//   {"at":NS,"event":"timer","timer":ID}
// each with ,"actions":[...] when the policy answered:
//   {"start":ID,"kind":KIND[,"step":S],"members":[[W,ROLE,WEIGHT],...]}
//   {"release":W[,"snapshot":true]}
//   {"set_timer":ID,"at":NS}  {"cancel_timer":ID}
// Feeding the events to a fresh policy with the same options and seed must give the same actions.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "policies/checked_policy.h"

namespace cohort {

[[nodiscard]] std::string_view name_of(SyncKind kind);
[[nodiscard]] std::string_view name_of(Role role);

// The object of an event, without its actions; the list of actions, `[]` when there are none.
[[nodiscard]] std::string to_text(const Event& event);
[[nodiscard]] std::string to_text(const Actions& actions);

class RunLog final : public ActionLog {
 public:
  // `out` outlives this; its failures are the owner's to check.
  explicit RunLog(std::ostream& out) : out_(out) {}
  void record(const Event& event, const Actions& actions) override;

 private:
  std::ostream& out_;
};

}  // namespace cohort
