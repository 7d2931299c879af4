// Options of a policy as plain values, and the table that describes them.
//
// A spec reader turns text into OptionValues by looking at the OptionSpecs; policies only ever see
// resolved, checked values. `cohort policies NAME` prints the table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

using Group = std::vector<std::uint32_t>;  // worker numbers
using Phase = std::vector<Group>;  // groups of one phase; workers not named synchronise with nobody
using Phases = std::vector<Phase>;                // also the edges of a graph: one Phase of pairs
using Matrix = std::vector<std::vector<double>>;  // rows of a mixing matrix

// null (std::monostate) switches off what the option bounds, where its spec says `nullable`.
using OptionValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Time, Phases, Matrix>;

enum class OptionType : std::uint8_t {
  Flag,       // bool
  Count,      // int64, from `minimum` to `maximum`
  Choice,     // string, one of `choices`
  Duration,   // Time
  Bandwidth,  // double, bytes per second, > 0
  Graph,      // string, one of `choices`, or one Phase of pairs [[0,1],[1,2],...] as Phases{edges}
  Groups,     // Phases: a list of phases, each a list of groups
  Weights,    // Matrix: n rows of n
};

// Who reads the option: the policy's own object, or the driver (simulator, group generator,
// training).
enum class ReadBy : std::uint8_t { Policy, Driver };

struct OptionSpec {
  std::string name{};
  OptionType type = OptionType::Flag;
  OptionValue default_value{};  // monostate: none, or off
  bool nullable = false;
  std::int64_t minimum = 1;
  std::int64_t maximum = UINT32_MAX;
  std::vector<std::string> choices{};
  std::string description{};
  std::string source{};  // where the rule or the default comes from
  ReadBy read_by = ReadBy::Policy;
};

// Values by option name. Missing names take the default of the OptionSpec.
class Options {
 public:
  void set(const std::string& name, OptionValue value) { values_[name] = std::move(value); }
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] const std::map<std::string, OptionValue>& all() const { return values_; }

  // Value of `name`, which must be present and of type T: resolve() has been called. Throws
  // ContractError otherwise.
  template <typename T>
  [[nodiscard]] const T& get(const std::string& name) const {
    return std::get<T>(at(name));
  }
  // Empty when the option is null.
  template <typename T>
  [[nodiscard]] std::optional<T> maybe(const std::string& name) const {
    const auto& value = at(name);
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    return std::get<T>(value);
  }

 private:
  [[nodiscard]] const OptionValue& at(const std::string& name) const;
  std::map<std::string, OptionValue> values_;
};

// Options that several policies have, for their tables.
[[nodiscard]] OptionSpec timing_option();              // group policies
[[nodiscard]] OptionSpec overlap_option();             // all-reduce, parameter-server
[[nodiscard]] OptionSpec endpoint_bandwidth_option();  // all
[[nodiscard]] OptionSpec vocabulary_option();          // random, smart
[[nodiscard]] OptionSpec order_option();               // group policies, d-psgd, ad-psgd
[[nodiscard]] OptionSpec average_momentum_option();    // group policies

// Throws InputError with `where` = "/name" when `value` does not fit `spec`: type, null, minimum,
// choices, finite and positive bandwidth, no negative duration, worker numbers and rows are left to
// the policy's own check.
void check_value(const OptionSpec& spec, const OptionValue& value);

// "true", "4", "10ms", "2.5GB/s", "null", "ring", "given" (for lists): as a label shows it.
[[nodiscard]] std::string to_label(const OptionSpec& spec, const OptionValue& value);

}  // namespace cohort
