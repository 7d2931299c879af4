#include "traces/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "policies/errors.h"
#include "traces/number.h"

namespace cohort {
namespace {

constexpr std::int64_t kMaxNs = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kTimeLimit = "a time of at most 9223372036 s";

struct Unit {
  std::string_view name;
  double scale;    // in the base unit: bytes, bytes per second
  int decimals{};  // time only: ns = 10^decimals
};

constexpr Unit kTimes[] = {{"ns", 1, 0}, {"us", 1e3, 3}, {"ms", 1e6, 6}, {"s", 1e9, 9}};
constexpr Unit kBytes[] = {{"B", 1},      {"kB", 1e3},     {"MB", 1e6},    {"GB", 1e9},
                           {"KiB", 1024}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
constexpr Unit kBandwidths[] = {{"bit/s", 0.125},  {"kbit/s", 125},  {"Mbit/s", 125e3},
                                {"Gbit/s", 125e6}, {"B/s", 1},       {"kB/s", 1e3},
                                {"MB/s", 1e6},     {"GB/s", 1e9},    {"KiB/s", 1024},
                                {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}};

// Levenshtein, a change of case at half price.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = 2 * j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = 2 * (i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = a[i] == b[j] ? 0 : lower(a[i]) == lower(b[j]) ? 1 : 2;
      const std::size_t replaced = diagonal + change;
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 2, diagonal + 2});
    }
  }
  return row.back();
}

// Spellings whose meaning is clear: a lower-case b is a bit, the Greek mu a u.
std::string plain_spelling(std::string_view unit) {
  std::string text(unit.substr(0, 16));
  const auto replace_tail = [&text](std::string_view tail, std::string_view by) {
    if (text.ends_with(tail)) text.replace(text.size() - tail.size(), tail.size(), by);
  };
  replace_tail("bps", "bit/s");
  replace_tail("b/s", "bit/s");
  replace_tail("Bps", "B/s");
  replace_tail("sec", "s");
  if (text.starts_with("\xc2\xb5") || text.starts_with("\xce\xbc")) text.replace(0, 2, "u");
  return text;
}

// ", nearest: ..."; empty when more than two are as near.
std::string nearest(std::string_view found, std::span<const Unit> units) {
  const std::string text = plain_spelling(found);
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const Unit& unit : units) least = std::min(least, edit_distance(text, unit.name));
  std::vector<std::string> names;
  for (const Unit& unit : units) {
    if (edit_distance(text, unit.name) == least) names.push_back(fmt::format("\"{}\"", unit.name));
  }
  return names.size() > 2 ? "" : ", nearest: " + fmt::to_string(fmt::join(names, " or "));
}

std::string allowed(std::string_view kind, std::span<const Unit> units) {
  std::vector<std::string_view> names;
  for (const Unit& unit : units) names.push_back(unit.name);
  return fmt::format("a {} is a number with one of the units {}", kind,
                     fmt::to_string(fmt::join(names, ", ")));
}

std::string shown(std::string_view text) {
  return text.size() > 60 ? fmt::format("\"{}...\"", text.substr(0, 60))
                          : fmt::format("\"{}\"", text);
}

struct Parsed {
  std::string_view number;
  double value;
  const Unit* unit;
};

Parsed parse(std::string_view text, std::string_view kind, std::span<const Unit> units) {
  const auto refuse = [&](std::string_view why) {
    return InputError("", fmt::format("found {}: {}; {}", shown(text), why, allowed(kind, units)));
  };
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) throw refuse("no number at its start");
  const std::string_view number = text.substr(0, static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{}) throw refuse("the number is out of range");
  if (!has_digits_around_point(number)) throw refuse("the point lacks digits on one side");
  if (!std::isfinite(value)) throw refuse("the number is not finite");
  if (std::signbit(value)) throw refuse("the number is negative");
  std::string_view name = text.substr(number.size());
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  if (name.empty()) throw refuse("the unit is missing");
  const auto unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end()) {
    throw refuse(fmt::format("unknown unit {}{}", shown(name), nearest(name, units)));
  }
  return {number, value, &*unit};
}

double parse_scaled(std::string_view text, std::string_view kind, std::span<const Unit> units) {
  const Parsed parsed = parse(text, kind, units);
  const double scaled = parsed.value * parsed.unit->scale;
  if (!std::isfinite(scaled)) {
    throw InputError("", fmt::format("found {}: out of range for a {}", shown(text), kind));
  }
  return scaled;
}

// A decimal number as digits * 10^exponent; `more` when digits behind the 18th were cut off.
struct Decimal {
  std::int64_t digits = 0;
  std::int64_t exponent = 0;
  bool more = false;
};

Decimal decimal(std::string_view number) {
  Decimal result;
  const std::size_t mantissa_end = std::min(number.find_first_of("eE"), number.size());
  if (mantissa_end < number.size()) {
    std::string_view exponent = number.substr(mantissa_end + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.exponent);
  }
  bool behind_point = false;
  for (const char c : number.substr(0, mantissa_end)) {
    if (c == '.') {
      behind_point = true;
      continue;
    }
    if (result.digits < 100'000'000'000'000'000) {
      result.digits = result.digits * 10 + (c - '0');
      if (behind_point) --result.exponent;
    } else {
      result.more = result.more || c != '0';
      if (!behind_point) ++result.exponent;
    }
  }
  return result;
}

// Rounded up to a whole number; empty when it does not fit.
std::optional<std::int64_t> whole_up(Decimal number) {
  if (number.digits == 0) return 0;
  for (; number.exponent > 0; --number.exponent) {
    if (number.digits > kMaxNs / 10) return std::nullopt;
    number.digits *= 10;
  }
  bool rest = number.more;
  for (; number.exponent < 0 && number.digits > 0; ++number.exponent) {
    rest = rest || number.digits % 10 != 0;
    number.digits /= 10;
  }
  return number.digits + (rest ? 1 : 0);
}

// `units` ascending; the largest that leaves a value of at least 1.
std::string format_scaled(double value, std::span<const Unit> units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (value >= unit.scale) best = &unit;
  }
  return fmt::format("{} {}", value / best->scale, best->name);
}

}  // namespace

Time parse_time(std::string_view text) {
  const Parsed parsed = parse(text, "time", kTimes);
  Decimal number = decimal(parsed.number);
  number.exponent += parsed.unit->decimals;
  const std::optional<std::int64_t> ns = whole_up(number);
  if (!ns) throw InputError("", fmt::format("found {}: expected {}", shown(text), kTimeLimit));
  return Time{*ns};
}

double parse_bytes(std::string_view text) { return parse_scaled(text, "size", kBytes); }

double parse_bandwidth(std::string_view text) {
  const double value = parse_scaled(text, "bandwidth", kBandwidths);
  if (value <= 0) {
    throw InputError("", fmt::format("found {}: a bandwidth is above zero", shown(text)));
  }
  return value;
}

std::string format_time(Time time) {
  const std::int64_t ns = time.count();
  if (ns < 0) return fmt::format("-{}", format_time(Time{-std::max(ns, -kMaxNs)}));
  const Unit* best = &kTimes[0];
  std::int64_t scale = 1;
  std::int64_t step = 1;
  for (const Unit& unit : kTimes) {
    if (ns >= step) best = &unit, scale = step;
    step *= 1000;
  }
  std::string text = fmt::format("{}", ns / scale);
  if (ns % scale != 0) {
    text += fmt::format(".{:0{}}", ns % scale, best->decimals);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return fmt::format("{} {}", text, best->name);
}

std::string format_bytes(double bytes) { return format_scaled(bytes, std::span(kBytes).first(4)); }

std::string format_bandwidth(double bytes_per_second) {
  return format_scaled(bytes_per_second, std::span(kBandwidths).subspan(4, 4));
}

Time from_seconds_up(double seconds) {
  const double ns = std::ceil(seconds * 1e9 * (1 - 1e-14));
  if (!(ns >= 0 && ns < 0x1p63)) {
    throw ContractError(fmt::format("a duration of {} s does not fit 64 bits of ns", seconds));
  }
  return Time{static_cast<std::int64_t>(ns)};
}

void refuse_end_of_time() { throw InputError("", "the simulated time exceeds 292 years"); }

}  // namespace cohort
