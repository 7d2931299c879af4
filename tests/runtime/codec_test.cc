#include "runtime/codec.h"

#include <doctest/doctest.h>

#include <cstring>
#include <optional>

#include "policies/errors.h"
#include "tests/runtime/random_message.h"

namespace cohort {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kTypes = std::variant_size_v<Message>;
constexpr std::uint64_t kSeed = 20'260'301;

Bytes encoded(const Message& message) {
  Bytes out;
  encode(message, out);
  return out;
}

Message decoded(const Bytes& frame) {
  const auto bytes = std::span(frame);
  if (bytes.size() < kHeaderBytes) throw FrameError("no header");
  const auto header = decode_header(bytes.first(kHeaderBytes));
  return decode_body(header, bytes.subspan(kHeaderBytes));
}

std::optional<Message> tried(const Bytes& frame) {
  try {
    return decoded(frame);
  } catch (const FrameError&) {
    return std::nullopt;
  }
}

// What every input must give: an error, or a message that takes exactly as many bytes.
bool harmless(const Bytes& frame) {
  const auto message = tried(frame);
  return !message || encoded(*message).size() == frame.size();
}

template <typename Body>
void for_random_messages(std::uint32_t rounds, Body body) {
  for (std::size_t type = 0; type < kTypes; ++type) {
    CAPTURE(type);
    Stream stream(kSeed, Purpose::Failure, static_cast<std::uint32_t>(type), 0);
    for (std::uint32_t i = 0; i < rounds; ++i) body(random_message(type, stream));
  }
}

TEST_CASE("codec: a message of any type comes back as it was") {
  for_random_messages(200,
                      [](const Message& message) { CHECK(decoded(encoded(message)) == message); });
}

TEST_CASE("codec: encoding appends, so that frames can be queued in one buffer") {
  Bytes both = encoded(message::Heartbeat{});
  encode(message::Drop{CommunicatorId{7}}, both);
  const auto second = Bytes(both.begin() + kHeaderBytes, both.end());
  CHECK(decoded(second) == Message(message::Drop{CommunicatorId{7}}));
}

TEST_CASE("codec: every truncation of a frame is an error") {
  for_random_messages(10, [](const Message& message) {
    const auto frame = encoded(message);
    for (std::size_t size = 0; size < frame.size(); ++size)
      CHECK_FALSE(tried(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size))));
  });
}

TEST_CASE("codec: a truncated body with a header to match is an error") {
  for_random_messages(10, [](const Message& message) {
    const auto frame = encoded(message);
    for (std::size_t size = kHeaderBytes; size < frame.size(); ++size) {
      Bytes shorter(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
      const auto length = static_cast<std::uint32_t>(size - kHeaderBytes);
      std::memcpy(shorter.data() + 8, &length, sizeof(length));
      CHECK_FALSE(tried(shorter));
    }
  });
}

TEST_CASE("codec: bytes behind a message are an error") {
  for_random_messages(5, [](const Message& message) {
    auto frame = encoded(message);
    frame.push_back(0);
    CHECK_FALSE(tried(frame));
    const auto length = static_cast<std::uint32_t>(frame.size() - kHeaderBytes);
    std::memcpy(frame.data() + 8, &length, sizeof(length));
    CHECK_FALSE(tried(frame));
  });
}

TEST_CASE("codec: any byte changed in any way gives an error or a message of the same length") {
  for_random_messages(2, [](const Message& message) {
    auto frame = encoded(message);
    for (auto& byte : frame) {
      const auto right = byte;
      for (std::uint32_t other = 0; other < 256; ++other) {
        byte = static_cast<std::uint8_t>(other);
        if (!harmless(frame)) FAIL_CHECK("not harmless");
      }
      byte = right;
    }
  });
}

TEST_CASE("codec: random bytes behind a good header give an error or a message of that length") {
  Stream stream(kSeed, Purpose::Failure, 100, 0);
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const auto size = stream.below(120);
    Bytes frame = encoded(message::Heartbeat{});
    frame[6] = static_cast<std::uint8_t>(stream.below(kTypes));
    frame[8] = static_cast<std::uint8_t>(size);
    for (std::uint32_t k = 0; k < size; ++k)
      frame.push_back(static_cast<std::uint8_t>(stream.below(2) * stream.below(256)));
    if (!harmless(frame)) FAIL_CHECK("not harmless");
  }
}

TEST_CASE("codec: a list that claims more elements than bytes follow is an error") {
  auto frame = encoded(message::JobEnd{"abc"});
  for (const std::uint32_t claimed : {4U, 0x7fffffffU, 0xffffffffU}) {
    std::memcpy(frame.data() + kHeaderBytes, &claimed, sizeof(claimed));
    CHECK_THROWS_WITH_AS((void)decoded(frame), "a list is longer than its frame", FrameError);
  }
}

TEST_CASE("codec: an enumerator out of range is an error") {
  auto frame = encoded(message::Start{.sync = SyncId{1}, .members = {{WorkerId{0}}}});
  const auto refused = [&](std::size_t at) {
    const auto right = std::exchange(frame[at], 0xc8);
    CHECK_THROWS_WITH_AS((void)decoded(frame), "an enumerator is out of range", FrameError);
    frame[at] = right;
  };
  refused(kHeaderBytes + 8);                  // kind, behind the synchronisation
  refused(kHeaderBytes + 8 + 1 + 8 + 4 + 4);  // role, behind step, count and worker
}

TEST_CASE("codec: a truth value that is neither 0 nor 1 is an error") {
  auto frame = encoded(message::Release{});
  frame.back() = 2;
  CHECK_THROWS_WITH_AS((void)decoded(frame), "a truth value is neither 0 nor 1", FrameError);
}

TEST_CASE("codec: a header of another protocol, version, type or size says what was found") {
  const auto refusal = [](std::size_t at, std::uint8_t value) -> std::string {
    auto frame = encoded(message::Heartbeat{});
    frame[at] = value;
    try {
      (void)decode_header(std::span(frame).first(kHeaderBytes));
    } catch (const FrameError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal(0, 'X') == "garbage: not a frame of this protocol");
  CHECK(refusal(4, 9) == "protocol version 9, here 2");
  CHECK(refusal(6, 200) == "a message of unknown type 200");
  CHECK(refusal(11, 1) == "oversized: a body of 16777216 bytes, at most 4194304");
}

TEST_CASE("codec: a message too long for a frame is a broken promise of ours and writes nothing") {
  Bytes out = {1};
  CHECK_THROWS_AS(encode(message::JobEnd{std::string(kLongestBody, 'x')}, out), ContractError);
  CHECK(out == Bytes{1});
}

TEST_CASE("codec: a frame begins with the four letters and little-endian numbers") {
  const Bytes expected = {'C', 'H', 'R', 'T', 2, 0, 12, 0, 4, 0, 0, 0, 0x04, 0x03, 0x02, 0x01};
  CHECK(encoded(message::Drop{CommunicatorId{0x01020304}}) == expected);
}

}  // namespace
}  // namespace cohort
