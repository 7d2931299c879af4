#include "tests/runtime/random_message.h"

#include <utility>

namespace cohort {
namespace {

class Filler {
 public:
  explicit Filler(Stream& stream) : stream_(stream) {}

  template <typename T>
  void fill(T&) {
    static_assert(sizeof(T) == 0, "no random value of this type");
  }
  void fill(message::Hello& m) {
    for (auto& byte : m.secret) byte = small();
    m = {m.secret, number(), wide(), text(), text()};
  }
  void fill(message::ClockProbe& m) { m = {time()}; }
  void fill(message::Prepared& m) { m = {number()}; }
  void fill(message::Ready& m) { m = {wide(), time(), time()}; }
  void fill(message::Done& m) {
    m = {SyncId{wide()}, time(), time(), time(), time(), {}};
    for (auto n = stream_.below(3); n > 0; --n) m.samples.push_back(sample());
  }
  void fill(message::Failed& m) { m = {SyncId{wide()}, text()}; }
  void fill(message::RunLeft& m) { m = {number(), time()}; }
  void fill(message::Heartbeat&) {}
  void fill(message::ClockReply& m) { m = {time(), time()}; }
  void fill(message::Prepare& m) {
    m = {number(), number(), number(), {}, wide(), wide(), flag(), flag(), {}, bytes(), training()};
    m.update = static_cast<ServerUpdate>(stream_.below(3));
    m.ranks = numbers();
  }
  void fill(message::Release& m) { m = {wide(), time(), flag(), flag()}; }
  void fill(message::Start& m) {
    m = {SyncId{wide()}, static_cast<SyncKind>(stream_.below(5)), wide(), {}, {}, flag()};
    m.communicator = CommunicatorId{number()};
    for (auto n = stream_.below(6); n > 0; --n)
      m.members.push_back(
          {WorkerId{number()}, static_cast<Role>(stream_.below(6)), stream_.uniform()});
  }
  void fill(message::Drop& m) { m = {CommunicatorId{number()}}; }
  void fill(message::Abort& m) { m = {SyncId{wide()}}; }
  void fill(message::RunEnd& m) { m = {number(), text()}; }
  void fill(message::JobEnd& m) { m = {text()}; }
  void fill(message::Rendezvous& m) { m = {CommunicatorId{number()}, bytes()}; }
  void fill(message::Diverged& m) { m = {wide()}; }
  void fill(message::Evaluate& m) { m = {number(), numbers(), bytes()}; }
  void fill(message::Learned& m) {
    m = {number(), {}, wide(), wide()};
    for (auto n = stream_.below(4); n > 0; --n)
      m.curve.push_back({time(), wide(), stream_.uniform(), score(), score()});
  }

 private:
  std::uint8_t small() { return static_cast<std::uint8_t>(stream_.next_u32()); }
  std::uint32_t number() { return stream_.next_u32(); }
  std::uint64_t wide() { return stream_.next_u64(); }
  Time time() { return Time{static_cast<std::int64_t>(stream_.next_u64())}; }
  bool flag() { return stream_.below(2) == 1; }
  std::vector<std::uint8_t> bytes() {
    std::vector<std::uint8_t> out(stream_.below(130));
    for (auto& byte : out) byte = small();
    return out;
  }
  std::string text() {
    const auto raw = bytes();
    return {raw.begin(), raw.end()};
  }
  std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> out(stream_.below(5));
    for (auto& value : out) value = number();
    return out;
  }
  std::optional<TrainingTerms> training() {
    if (flag()) return std::nullopt;
    TrainingTerms terms{number(), StepOrder(stream_.below(2)), Averaged(stream_.below(2)), flag(),
                        wide()};
    if (flag()) terms.time_apart = time();
    return terms;
  }
  std::optional<Score> score() {
    if (flag()) return std::nullopt;
    return Score{stream_.normal(),
                 flag() ? std::optional<double>(stream_.uniform()) : std::nullopt};
  }
  message::Sample sample() {
    message::Sample out{stream_.uniform() - 0.5, {}};
    for (auto n = stream_.below(9); n > 0; --n)
      out.entries.push_back(static_cast<float>(stream_.normal()));
    return out;
  }

  Stream& stream_;
};

template <std::size_t... types>
Message make(std::size_t type, Stream& stream, std::index_sequence<types...>) {
  Message out;
  const auto fill = [&]<std::size_t i>() {
    if (i != type) return;
    Filler(stream).fill(out.emplace<i>());
  };
  (fill.template operator()<types>(), ...);
  return out;
}

}  // namespace

Message random_message(std::size_t type, Stream& stream) {
  return make(type, stream, std::make_index_sequence<std::variant_size_v<Message>>{});
}

}  // namespace cohort
