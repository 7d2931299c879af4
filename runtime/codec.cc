#include "runtime/codec.h"

#include <bit>
#include <concepts>
#include <cstring>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "policies/errors.h"

namespace cohort {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kMagic = 0x54524843;  // "CHRT"
constexpr std::size_t kTypes = std::variant_size_v<Message>;

// What each message consists of, in the order of the wire: said once, for both directions.
template <typename T, typename Named>
concept A = std::same_as<std::remove_const_t<T>, Named>;

template <A<Member> T>
auto fields(T& m) {
  return std::tie(m.worker, m.role, m.weight);
}
template <A<Score> T>
auto fields(T& m) {
  return std::tie(m.loss, m.accuracy);
}
template <A<CurvePart> T>
auto fields(T& m) {
  return std::tie(m.at, m.steps, m.squared_distance, m.own, m.mean);
}
template <A<TrainingTerms> T>
auto fields(T& m) {
  return std::tie(m.plan, m.order, m.averaged, m.average_momentum, m.steps_apart, m.time_apart);
}
template <A<message::Sample> T>
auto fields(T& m) {
  return std::tie(m.signed_sum, m.entries);
}
template <A<message::Hello> T>
auto fields(T& m) {
  return std::tie(m.secret, m.rank, m.process, m.host, m.device);
}
template <A<message::ClockProbe> T>
auto fields(T& m) {
  return std::tie(m.sent);
}
template <A<message::Prepared> T>
auto fields(T& m) {
  return std::tie(m.run);
}
template <A<message::Ready> T>
auto fields(T& m) {
  return std::tie(m.step, m.began, m.ended);
}
template <A<message::Done> T>
auto fields(T& m) {
  return std::tie(m.sync, m.received, m.began, m.ended, m.communicator, m.samples);
}
template <A<message::Failed> T>
auto fields(T& m) {
  return std::tie(m.sync, m.reason);
}
template <A<message::RunLeft> T>
auto fields(T& m) {
  return std::tie(m.run, m.cpu);
}
template <A<message::Heartbeat> T>
auto fields(T&) {
  return std::tie();
}
template <A<message::ClockReply> T>
auto fields(T& m) {
  return std::tie(m.sent, m.here);
}
template <A<message::Prepare> T>
auto fields(T& m) {
  return std::tie(m.run, m.member, m.workers, m.ranks, m.entries, m.seed, m.verify, m.publish,
                  m.update, m.rendezvous, m.training);
}
template <A<message::Release> T>
auto fields(T& m) {
  return std::tie(m.step, m.work, m.snapshot, m.last);
}
template <A<message::Start> T>
auto fields(T& m) {
  return std::tie(m.sync, m.kind, m.step, m.members, m.communicator, m.create);
}
template <A<message::Drop> T>
auto fields(T& m) {
  return std::tie(m.communicator);
}
template <A<message::Abort> T>
auto fields(T& m) {
  return std::tie(m.sync);
}
template <A<message::RunEnd> T>
auto fields(T& m) {
  return std::tie(m.run, m.failure);
}
template <A<message::JobEnd> T>
auto fields(T& m) {
  return std::tie(m.failure);
}
template <A<message::Rendezvous> T>
auto fields(T& m) {
  return std::tie(m.communicator, m.bytes);
}
template <A<message::Diverged> T>
auto fields(T& m) {
  return std::tie(m.step);
}
template <A<message::Evaluate> T>
auto fields(T& m) {
  return std::tie(m.run, m.members, m.rendezvous);
}
template <A<message::Learned> T>
auto fields(T& m) {
  return std::tie(m.run, m.curve, m.gradients, m.changes);
}

// The last enumerator of the closed enumerations; the others are ids, of which all values are good.
template <typename E>
constexpr std::optional<E> kLast = std::nullopt;
template <>
constexpr std::optional<SyncKind> kLast<SyncKind> = SyncKind::ServerPull;
template <>
constexpr std::optional<Role> kLast<Role> = Role::Server;
template <>
constexpr std::optional<ServerUpdate> kLast<ServerUpdate> = ServerUpdate::EveryPush;
template <>
constexpr std::optional<StepOrder> kLast<StepOrder> = StepOrder::AverageThenUpdate;
template <>
constexpr std::optional<Averaged> kLast<Averaged> = Averaged::Gradients;

template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;
template <typename T>
concept Enumerator = std::is_enum_v<T>;

class Writer {
 public:
  explicit Writer(std::vector<std::uint8_t>& out) : out_(out) {}

  template <Number T>
  void put(T value) {
    put_all(&value, 1);
  }
  void put(bool value) { put(static_cast<std::uint8_t>(value)); }
  void put(Time value) { put(static_cast<std::int64_t>(value.count())); }
  template <Enumerator T>
  void put(T value) {
    put(static_cast<std::underlying_type_t<T>>(value));
  }
  void put(const Secret& secret) { put_all(secret.data(), secret.size()); }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_all(text.data(), text.size());
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    if constexpr (Number<T>) {
      put_all(list.data(), list.size());
    } else {
      for (const auto& element : list) put(element);
    }
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename T>
  requires requires(const T& parts) { fields(parts); }
  void put(const T& parts) {
    std::apply([this](const auto&... field) { (put(field), ...); }, fields(parts));
  }

 private:
  template <typename T>
  void put_all(const T* values, std::size_t count) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values);
    out_.insert(out_.end(), bytes, bytes + count * sizeof(T));
  }

  std::vector<std::uint8_t>& out_;
};

class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <Number T>
  void get(T& value) {
    get_all(&value, 1);
  }
  void get(bool& value) {
    const auto byte = next<std::uint8_t>();
    if (byte > 1) throw FrameError("a truth value is neither 0 nor 1");
    value = byte == 1;
  }
  void get(Time& value) { value = Time{next<std::int64_t>()}; }
  template <Enumerator T>
  void get(T& value) {
    value = static_cast<T>(next<std::underlying_type_t<T>>());
    if (kLast<T> && value > *kLast<T>) throw FrameError("an enumerator is out of range");
  }
  void get(Secret& secret) { get_all(secret.data(), secret.size()); }
  void get(std::string& text) {
    text.resize(count(1));
    get_all(text.data(), text.size());
  }
  template <typename T>
  void get(std::vector<T>& list) {
    if constexpr (Number<T>) {
      list.resize(count(sizeof(T)));
      get_all(list.data(), list.size());
    } else {
      const auto elements = count(1);
      for (std::size_t i = 0; i < elements; ++i) get(list.emplace_back());
    }
  }
  template <typename T>
  void get(std::optional<T>& value) {
    if (next<bool>()) get(value.emplace());
  }
  template <typename T>
  requires requires(T& parts) { fields(parts); }
  void get(T& parts) {
    std::apply([this](auto&... field) { (get(field), ...); }, fields(parts));
  }
  void end() const {
    if (!rest_.empty()) throw FrameError("the body is longer than its message");
  }

 private:
  template <typename T>
  T next() {
    T value{};
    get(value);
    return value;
  }
  // Of a list of elements of at least `size` bytes, which must be there.
  std::size_t count(std::size_t size) {
    const std::size_t elements = next<std::uint32_t>();
    if (elements * size > rest_.size()) throw FrameError("a list is longer than its frame");
    return elements;
  }
  template <typename T>
  void get_all(T* values, std::size_t elements) {
    const auto size = elements * sizeof(T);
    if (size > rest_.size()) throw FrameError("the body is shorter than its message");
    if (size > 0) std::memcpy(values, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }

  std::span<const std::uint8_t> rest_;
};

template <std::size_t type>
Message read(std::span<const std::uint8_t> body) {
  Message out(std::in_place_index<type>);
  FieldReader reader(body);
  reader.get(std::get<type>(out));
  reader.end();
  return out;
}

using Read = Message (*)(std::span<const std::uint8_t>);
template <std::size_t... types>
constexpr std::array<Read, sizeof...(types)> readers(std::index_sequence<types...>) {
  return {&read<types>...};
}

}  // namespace

void encode(const Message& message, std::vector<std::uint8_t>& out) {
  const auto before = out.size();
  Writer writer(out);
  writer.put(kMagic);
  writer.put(kProtocolVersion);
  writer.put(static_cast<std::uint16_t>(message.index()));
  const auto at = out.size();
  writer.put(std::uint32_t{0});
  std::visit([&writer](const auto& parts) { writer.put(parts); }, message);
  const auto length = out.size() - at - sizeof(std::uint32_t);
  if (length > kLongestBody) {
    out.resize(before);
    throw ContractError("protocol: a message is longer than a frame");
  }
  const auto written = static_cast<std::uint32_t>(length);
  std::memcpy(out.data() + at, &written, sizeof(written));
}

FrameHeader decode_header(std::span<const std::uint8_t> bytes) {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  FrameHeader header;
  FieldReader reader(bytes);
  reader.get(magic);
  reader.get(version);
  reader.get(header.type);
  reader.get(header.length);
  reader.end();
  if (magic != kMagic) throw FrameError("garbage: not a frame of this protocol");
  if (version != kProtocolVersion)
    throw FrameError("protocol version " + std::to_string(version) + ", here " +
                     std::to_string(kProtocolVersion));
  if (header.type >= kTypes)
    throw FrameError("a message of unknown type " + std::to_string(header.type));
  if (header.length > kLongestBody)
    throw FrameError("oversized: a body of " + std::to_string(header.length) + " bytes, at most " +
                     std::to_string(kLongestBody));
  return header;
}

Message decode_body(FrameHeader header, std::span<const std::uint8_t> body) {
  static constexpr auto kReaders = readers(std::make_index_sequence<kTypes>{});
  if (header.type >= kTypes)
    throw FrameError("a message of unknown type " + std::to_string(header.type));
  if (body.size() != header.length)
    throw FrameError("truncated: a body shorter than its header says");
  return kReaders[header.type](body);
}

}  // namespace cohort
