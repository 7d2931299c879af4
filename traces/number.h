// Numbers as they stand in text files: decimal, a whole field of them, no sign but a minus.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace cohort {

// False for a point without a digit on both sides: "0." is what is left of a 0.25 that was cut off.
[[nodiscard]] inline bool has_digits_around_point(std::string_view number) {
  const std::size_t point = number.find('.');
  if (point == std::string_view::npos) return true;
  const auto digit = [&](std::size_t at) {
    return at < number.size() && number[at] >= '0' && number[at] <= '9';
  };
  return point > 0 && digit(point - 1) && digit(point + 1);
}

// Empty unless all of `text` is a number that fits. Infinity and NaN are numbers here: who reads
// them says what is allowed.
template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  if (std::floating_point<Number> && !has_digits_around_point(text)) return std::nullopt;
  return number;
}

}  // namespace cohort
