// Feeds a policy by hand and shows its answers as text, for tests of single rules.
//
// Every answer is checked by CheckedPolicy. Workers report their steps in turn; all events are at
// time 0 unless said.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policies/checked_policy.h"
#include "policies/registry.h"

namespace cohort {

class PolicyScript {
 public:
  // `given` are the options that differ from the defaults of the registered policy `name`.
  PolicyScript(const std::string& name, const Options& given,
               const std::vector<std::uint32_t>& gpus_per_node, std::uint64_t seed = 1);

  // Answers such as "start 3 [0 1:passive]", "release 0", "snapshot 2", "timer 0 at 5", "cancel 0",
  // in order and separated by "; ". Members are named without a role when they block. A neighbour
  // mix says "start 3 step 2 [...]".
  std::string ready(std::uint32_t worker);
  std::string done(std::uint64_t sync);
  std::string failed(std::uint64_t sync);
  std::string left(std::uint32_t worker);
  std::string lost(std::uint32_t worker);
  std::string fired(std::uint64_t timer, Time at);

  // Members of the last start, with weights.
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] std::uint32_t waiting() const { return policy_->waiting(); }

 private:
  std::string deliver(const Event& event);

  std::unique_ptr<CheckedPolicy> policy_;
  std::vector<std::uint64_t> steps_;
  std::vector<Member> members_;
  Time now_{};
};

// One option.
[[nodiscard]] Options option(const std::string& name, OptionValue value);

// Where the registered policy `name` refuses these options on that topology; "accepted" if it takes
// them.
[[nodiscard]] std::string place_of_refusal(const std::string& name, const Options& given,
                                           const Topology& topology);

}  // namespace cohort
