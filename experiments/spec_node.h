// A value of a spec together with its place: what every reader of a part of a spec works with.
//
// A node refers to the document and to its parent node, both of which must outlive it. Every read
// checks and throws InputError whose `where` is the JSON pointer of the value, with what was found
// and what is allowed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "experiments/spec_json.h"
#include "policies/synchronisation.h"

namespace cohort {

// Longer latencies and steps are refused, so that sums over a run stay far from the end of 64 bits.
inline constexpr Time kLongestTime = std::chrono::hours(24);

class SpecNode {
 public:
  explicit SpecNode(const Json& document) : value_(&document) {}

  [[nodiscard]] const Json& json() const { return *value_; }
  [[nodiscard]] std::string pointer() const;  // RFC 6901; empty for the whole document

  // Throws InputError "found VALUE; allowed: ALLOWED".
  [[noreturn]] void refuse(std::string_view allowed) const;
  // Throws InputError with the complaint as it stands.
  [[noreturn]] void complain(const std::string& complaint) const;

  // Objects.
  // Refuses a value that is no object, an unknown key (naming the nearest), and, by name, a key of
  // a later version.
  void only_keys(std::span<const std::string_view> known,
                 std::span<const std::string_view> later = {}) const;
  void only_keys(std::initializer_list<std::string_view> known,
                 std::initializer_list<std::string_view> later = {}) const {
    only_keys(std::span(known.begin(), known.size()), std::span(later.begin(), later.size()));
  }
  [[nodiscard]] std::optional<SpecNode> find(std::string_view key) const;
  [[nodiscard]] SpecNode need(std::string_view key) const;

  // Lists. `what` says what the list holds, for the message.
  [[nodiscard]] std::size_t size(std::string_view what) const;  // refuses a value that is no list
  [[nodiscard]] SpecNode at(std::size_t index) const { return {(*value_)[index], this, {}, index}; }

  // Plain values.
  [[nodiscard]] std::uint64_t count(std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] double number(double least, double most) const;
  [[nodiscard]] double positive_number(double most) const;
  [[nodiscard]] bool flag() const;
  [[nodiscard]] const std::string& text(std::string_view allowed) const;
  // A text for tables and legends: 1 to 200 bytes without control characters.
  [[nodiscard]] const std::string& name() const;
  // Index of the choice.
  [[nodiscard]] std::size_t choice(std::initializer_list<std::string_view> choices) const;
  [[nodiscard]] Time time() const;  // at most kLongestTime
  [[nodiscard]] Time positive_time(Time most) const;
  [[nodiscard]] double bytes() const;
  [[nodiscard]] double bandwidth() const;
  // A number in [0, 1], or "a/b" with b a whole number or `n`.
  [[nodiscard]] double probability(std::uint32_t n) const;

 private:
  SpecNode(const Json& value, const SpecNode* parent, std::string_view key, std::size_t index)
      : value_(&value), parent_(parent), key_(key), index_(index) {}

  const Json* value_;
  const SpecNode* parent_ = nullptr;
  std::string_view key_;  // of the parent object; of a list: index_
  std::size_t index_ = 0;
};

// `/a/b` plus one more step, escaped as RFC 6901 says.
[[nodiscard]] std::string joined(const std::string& pointer, std::string_view key);

// "a, b, c".
[[nodiscard]] std::string listed(std::span<const std::string_view> names);

// The complaint about `found`, which is none of `names`: with the nearest of them, and all of them.
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view found,
                                       std::span<const std::string_view> names);

}  // namespace cohort
