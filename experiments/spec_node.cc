#include "experiments/spec_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "experiments/nearest_name.h"
#include "policies/errors.h"
#include "traces/units.h"

namespace cohort {
namespace {

constexpr std::string_view kTimes = "a time with its unit (ns, us, ms, s), such as \"100ms\"";
constexpr std::string_view kBytes =
    "bytes with their unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"60MB\"";
constexpr std::string_view kBandwidths =
    "a bandwidth with its unit (bit/s, Mbit/s, Gbit/s, or B/s, MB/s, GB/s), such as \"56Gbit/s\"";

// `parse` of traces/units.h on a string; its complaint gets the place.
template <typename Parse>
auto quantity(const SpecNode& node, std::string_view allowed, Parse parse) {
  if (node.json().is_number()) {
    node.complain(
        fmt::format("found {}, a number without a unit; allowed: {}", shown(node.json()), allowed));
  }
  if (!node.json().is_string()) node.refuse(allowed);
  try {
    return parse(node.json().get_ref<const std::string&>());
  } catch (const InputError& error) {
    node.complain(error.complaint());
  }
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string joined(const std::string& pointer, std::string_view key) {
  std::string result = pointer + "/";
  for (const char c : key) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

std::string listed(std::span<const std::string_view> names) {
  std::string result;
  for (const auto name : names) result.append(result.empty() ? "" : ", ").append(name);
  return result;
}

std::string unknown_name(std::string_view what, std::string_view found,
                         std::span<const std::string_view> names) {
  return fmt::format("unknown {} {}; nearest: \"{}\"; allowed: {}", what, shown(std::string(found)),
                     nearest_name(found, names), listed(names));
}

std::string SpecNode::pointer() const {
  if (parent_ == nullptr) return "";
  return joined(parent_->pointer(),
                parent_->value_->is_array() ? std::to_string(index_) : std::string(key_));
}

void SpecNode::refuse(std::string_view allowed) const {
  complain(fmt::format("found {}; allowed: {}", shown(*value_), allowed));
}

void SpecNode::complain(const std::string& complaint) const {
  throw InputError(parent_ == nullptr ? "/" : pointer(), complaint);
}

void SpecNode::only_keys(std::span<const std::string_view> known,
                         std::span<const std::string_view> later) const {
  if (!value_->is_object()) refuse(fmt::format("an object with the keys {}", listed(known)));
  for (auto item = value_->begin(); item != value_->end(); ++item) {
    const std::string_view key = item.key();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const auto where = joined(pointer(), key);
    if (std::find(later.begin(), later.end(), key) != later.end()) {
      throw InputError(
          where, fmt::format("\"{}\" is not in this version yet; allowed: {}", key, listed(known)));
    }
    throw InputError(where, unknown_name("key", key, known));
  }
}

std::optional<SpecNode> SpecNode::find(std::string_view key) const {
  const auto item = value_->find(std::string(key));
  if (item == value_->end()) return std::nullopt;
  return SpecNode(*item, this, key, 0);
}

SpecNode SpecNode::need(std::string_view key) const {
  const auto found = find(key);
  if (!found) complain(fmt::format("the key \"{}\" is missing", key));
  return *found;
}

std::size_t SpecNode::size(std::string_view what) const {
  if (!value_->is_array()) refuse(fmt::format("a list of {}", what));
  return value_->size();
}

std::uint64_t SpecNode::count(std::uint64_t least, std::uint64_t most) const {
  if (value_->is_number_unsigned()) {
    const auto value = value_->get<std::uint64_t>();
    if (value >= least && value <= most) return value;
  }
  refuse(fmt::format("a whole number from {} to {}", least, most));
}

double SpecNode::number(double least, double most) const {
  if (value_->is_number()) {
    const auto value = value_->get<double>();
    if (value >= least && value <= most) return value;
  }
  refuse(fmt::format("a number from {} to {}", least, most));
}

double SpecNode::positive_number(double most) const {
  if (value_->is_number()) {
    const auto value = value_->get<double>();
    if (value > 0 && value <= most) return value;
  }
  refuse(fmt::format("a number above 0, at most {}", most));
}

bool SpecNode::flag() const {
  if (!value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

const std::string& SpecNode::text(std::string_view allowed) const {
  if (!value_->is_string()) refuse(allowed);
  return value_->get_ref<const std::string&>();
}

const std::string& SpecNode::name() const {
  constexpr std::size_t kLongest = 200;
  const auto& found = text("a text");
  const bool printable =
      std::ranges::none_of(found, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (found.empty() || found.size() > kLongest || !printable)
    refuse(fmt::format("a text of 1 to {} bytes on one line", kLongest));
  return found;
}

std::size_t SpecNode::choice(std::initializer_list<std::string_view> choices) const {
  const auto& found =
      text(fmt::format("one of {}", listed(std::span(choices.begin(), choices.size()))));
  const auto item = std::find(choices.begin(), choices.end(), found);
  if (item == choices.end())
    complain(unknown_name("value", found, std::span(choices.begin(), choices.size())));
  return static_cast<std::size_t>(item - choices.begin());
}

Time SpecNode::time() const {
  const Time value = quantity(*this, kTimes, parse_time);
  if (value > kLongestTime) refuse(fmt::format("a time of at most {}", format_time(kLongestTime)));
  return value;
}

Time SpecNode::positive_time(Time most) const {
  const Time value = quantity(*this, kTimes, parse_time);
  if (value <= Time{0} || value > most)
    refuse(fmt::format("a time above 0, at most {}", format_time(most)));
  return value;
}

double SpecNode::bytes() const { return quantity(*this, kBytes, parse_bytes); }

double SpecNode::bandwidth() const { return quantity(*this, kBandwidths, parse_bandwidth); }

double SpecNode::probability(std::uint32_t n) const {
  constexpr std::string_view kAllowed =
      "a number from 0 to 1, or a fraction such as \"1/16\" or \"1/n\" (n workers)";
  std::optional<double> value;
  if (value_->is_number()) value = value_->get<double>();
  if (value_->is_string()) {
    const std::string_view fraction = value_->get_ref<const std::string&>();
    const auto slash = fraction.find('/');
    if (slash == std::string_view::npos) refuse(kAllowed);
    const auto over = plain_number(fraction.substr(0, slash));
    const auto under =
        fraction.substr(slash + 1) == "n" ? n : plain_number(fraction.substr(slash + 1));
    if (over && under && *under > 0) value = *over / *under;
  }
  if (!value || !(*value >= 0 && *value <= 1)) refuse(kAllowed);
  return *value;
}

}  // namespace cohort
