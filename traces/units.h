// Quantities with units, from and to text. The only place that knows the units.
//
//   bytes       B kB MB GB (powers of ten), KiB MiB GiB (powers of two)
//   bandwidth   bit/s kbit/s Mbit/s Gbit/s, or bytes with /s
//   time        ns us ms s
// A decimal number (digits on both sides of a point), spaces if wanted, a unit; case counts. A
// number without unit, a wrong unit, a negative or non-finite value are refused (InputError with an
// empty `where`: what was found, what is allowed, the nearest unit).
#pragma once

#include <string>
#include <string_view>

#include "policies/synchronisation.h"

namespace cohort {

// 0 allowed; at most about 292 years. Exact in decimal; below 1 ns rounded up.
[[nodiscard]] Time parse_time(std::string_view text);
[[nodiscard]] double parse_bytes(std::string_view text);      // 0 allowed
[[nodiscard]] double parse_bandwidth(std::string_view text);  // bytes per second, > 0

[[nodiscard]] std::string format_time(Time time);      // "12.5 ms", exact
[[nodiscard]] std::string format_bytes(double bytes);  // "60 MB"
[[nodiscard]] std::string format_bandwidth(double bytes_per_second);

[[nodiscard]] constexpr double seconds(Time time) {
  return static_cast<double>(time.count()) * 1e-9;
}
// Rounded up to the next ns; a relative guard of 1e-14 keeps what is a whole number of ns in exact
// arithmetic whole. Throws ContractError when it is negative, not a number or does not fit 64 bits.
[[nodiscard]] Time from_seconds_up(double seconds);
[[noreturn]] void refuse_end_of_time();
// The instant `wait` after `now`. Throws InputError when simulated time ends before it, after 292
// years.
[[nodiscard]] inline Time instant_after(Time now, Time wait) {
  if (wait > Time::max() - now) [[unlikely]]
    refuse_end_of_time();
  return now + wait;
}

}  // namespace cohort
