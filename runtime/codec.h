// Messages as bytes: the one place that encodes and decodes them.
//
// A frame is a header of 12 bytes and a body, all integers little-endian:
//   magic  u32  "CHRT"
//   version u16
//   type   u16  the message's place in `Message`
//   length u32  of the body in bytes, at most kLongestBody
// In bodies: integers and enumerators at their own width, bool as one byte 0 or 1, Time as i64 ns,
// float and double as their bits, strings and lists as a u32 count and their elements, what may be
// absent as a bool and, where it is true, the value. A body that is longer or shorter than its
// message, an enumerator out of range, a bool that is neither is an error, never undefined
// behaviour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/messages.h"

namespace cohort {

inline constexpr std::uint16_t kProtocolVersion = 2;
inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kLongestBody = 4u << 20;

// What was wrong with a frame, for the log of the one connection that it ends.
class FrameError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct FrameHeader {
  std::uint16_t type = 0;
  std::uint32_t length = 0;
};

// Appends the whole frame to `out`. Throws ContractError when the body would be too long, and
// leaves `out` as it was.
void encode(const Message& message, std::vector<std::uint8_t>& out);

// `bytes`: kHeaderBytes of them. Throws FrameError: other magic, version, type, or too long.
[[nodiscard]] FrameHeader decode_header(std::span<const std::uint8_t> bytes);

// Throws FrameError.
[[nodiscard]] Message decode_body(FrameHeader header, std::span<const std::uint8_t> body);

}  // namespace cohort
