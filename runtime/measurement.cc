#include "runtime/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <thread>

#include "policies/errors.h"
#include "runtime/patience.h"
#include "runtime/watchdog.h"

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;

constexpr CommunicatorId kEverybody{0};
constexpr std::chrono::seconds kLongestWait{60};
constexpr std::chrono::seconds kLongestSize{600};
// Of ranks that take no part in a pattern: they must not keep the others' processors busy.
constexpr Time kIdleNap = std::chrono::milliseconds(5);

const char* named(Pattern::Kind kind) {
  switch (kind) {
    case Pattern::Kind::AllReduce:
      return "an all-reduce";
    case Pattern::Kind::Exchange:
      return "an exchange";
    case Pattern::Kind::Incast:
      return "an incast";
    case Pattern::Kind::Ping:
      return "an incast beside a ping";
  }
  return "";
}

struct Cpu {  // of this host, in ticks
  double busy = 0;
  double all = 0;
};

Cpu cpu_now() {
  std::ifstream stat("/proc/stat");
  std::string label;
  stat >> label;
  Cpu cpu;
  double ticks = 0;
  // user nice system idle iowait irq softirq steal
  for (int i = 0; i < 8 && stat >> ticks; ++i) {
    cpu.all += ticks;
    if (i != 3 && i != 4) cpu.busy += ticks;
  }
  return cpu;
}

std::vector<std::uint32_t> members_of(const Pattern& pattern) {
  std::vector<std::uint32_t> members;
  for (const auto& group : pattern.groups)
    members.insert(members.end(), group.begin(), group.end());
  return members;
}

class Measurement {
 public:
  Measurement(Backend& backend, std::uint32_t rank, std::uint32_t ranks,
              const MeasurementOptions& options)
      : backend_(backend),
        transport_(backend.transport()),
        vectors_(backend.vectors()),
        options_(options),
        rank_(rank),
        ranks_(ranks),
        nap_(transport_.crowded()),
        values_(vectors_, *std::ranges::max_element(options.bytes) / sizeof(float) + 1),
        slots_(vectors_, ranks),
        sums_(vectors_, ranks) {
    std::vector<std::uint32_t> everybody(ranks);
    std::iota(everybody.begin(), everybody.end(), 0);
    transport_.connect(everybody, {});
    finish(*transport_.create(kEverybody, everybody, {}));
  }

  PatternResult run(const Pattern& pattern) {
    PatternResult result{pattern, {}, 0};
    const std::vector<std::uint32_t>* mine = nullptr;
    for (const auto& group : pattern.groups) {
      ++communicators_;
      if (std::ranges::find(group, rank_) == group.end()) continue;
      mine = &group;
      communicator_ = CommunicatorId{communicators_};
    }
    taking_part_ = CommunicatorId{++communicators_};
    kind_ = pattern.kind;
    lead_ = 0;
    if (mine != nullptr) received_ = Buffer(vectors_, values_.count() * arriving(*mine).size());
    gather(0);  // so that all begin together
    const auto begin = Clock::now();
    const bool connects = kind_ == Pattern::Kind::AllReduce && mine != nullptr;
    if (connects) finish(*transport_.create(communicator_, *mine, {}));
    result.create_seconds = largest(since(begin));
    if (mine != nullptr) finish(*transport_.create(taking_part_, members_of(pattern), {}));
    for (const auto bytes : options_.bytes) {
      watch(pattern.name, bytes);
      result.timings.push_back(time(mine, bytes));
      watchdog_.disarm();
    }
    if (mine != nullptr) transport_.destroy(taking_part_);
    if (connects) transport_.destroy(communicator_);
    return result;
  }

 private:
  // A call of the transport may wait for ever for a rank that is stopped.
  void watch(const std::string& pattern, std::uint64_t bytes) {
    const auto text = fmt::format("cohort: rank {}: the pattern \"{}\" took over {} s at {} B",
                                  rank_, pattern, kLongestSize.count(), bytes);
    watchdog_.arm(kLongestSize, [text] { return text; });
  }

  static double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  void finish(Request& request, Naps naps = Naps()) {
    const auto begin = Clock::now();
    while (!request.test()) pause(begin, naps);
  }
  // Between two polls for what began then.
  void pause(Clock::time_point begin, Naps& naps) const {
    if (Clock::now() - begin > kLongestWait)
      throw EnvironmentError(fmt::format("rank {}: a collective of the measurement took over {} s",
                                         rank_, kLongestWait.count()));
    if (nap_) std::this_thread::sleep_for(naps.next());
  }

  // Every rank's value, at every rank.
  std::vector<float> gather(double value, Naps naps = Naps()) {
    std::vector<float> values(ranks_, 0);
    values[rank_] = static_cast<float>(value);
    vectors_.write(values, slots_.entries());
    finish(*vectors_.fence());
    finish(*transport_.all_reduce(kEverybody, slots_.entries(), sums_.entries(), ranks_), naps);
    finish(*vectors_.fence());
    vectors_.read(sums_.entries(), values);
    return values;
  }
  double largest(double value) {
    const auto values = gather(value);
    return *std::ranges::max_element(values);
  }
  // Of the ranks that take part in the pattern.
  void barrier() {
    finish(*transport_.all_reduce(taking_part_, slots_.entries(), sums_.entries(), 1));
    finish(*vectors_.fence());
  }

  void fill(std::size_t count) {
    const std::vector<float> values(count, static_cast<float>(rank_ + 1));
    vectors_.write(values, values_.entries());
    finish(*vectors_.fence());
  }

  // Of whole messages.
  [[nodiscard]] std::span<const std::uint32_t> senders(std::span<const std::uint32_t> group) const {
    return kind_ == Pattern::Kind::Ping ? group.first(group.size() - 1) : group;
  }

  // What each part of the received entries must hold.
  [[nodiscard]] std::vector<float> arriving(const std::vector<std::uint32_t>& group) const {
    std::vector<float> values;
    for (const auto rank : senders(group))
      if (rank != rank_) values.push_back(static_cast<float>(rank + 1));
    if (kind_ == Pattern::Kind::AllReduce)
      return {std::accumulate(values.begin(), values.end(), static_cast<float>(rank_ + 1))};
    if (group[0] != rank_ && kind_ != Pattern::Kind::Exchange) return {};
    return values;
  }

  void check(const std::vector<std::uint32_t>& group, std::size_t count) {
    const auto expected = arriving(group);
    std::vector<float> found(count * expected.size());
    vectors_.read(received_.entries(), found);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] != expected[i / count])
        throw EnvironmentError(fmt::format("rank {}: {} of {} gave {} at entry {}, not {}", rank_,
                                           named(kind_), backend_.name(), found[i], i % count,
                                           expected[i / count]));
  }

  void communicate(const std::vector<std::uint32_t>& group, std::size_t count) {
    if (kind_ == Pattern::Kind::AllReduce) {
      finish(*transport_.all_reduce(communicator_, values_.entries(), received_.entries(), count));
    } else if (kind_ == Pattern::Kind::Exchange) {
      const auto peer = group[0] == rank_ ? group[1] : group[0];
      const Transfer transfers[] = {{Transfer::Way::Send, peer, values_.entries(), count},
                                    {Transfer::Way::Receive, peer, received_.entries(), count}};
      finish(*transport_.exchange(message(kWhole), transfers));
    } else if (group[0] == rank_) {
      receive_all(group, count);
    } else if (kind_ == Pattern::Kind::Ping && group.back() == rank_) {
      finish(*exchange_number(Transfer::Way::Send, group[0], kPing));
      finish(*exchange_number(Transfer::Way::Receive, group[0], kPong));
    } else {
      const Transfer transfer{Transfer::Way::Send, group[0], values_.entries(), count};
      finish(*transport_.exchange(message(kWhole), {&transfer, 1}));
    }
    finish(*vectors_.fence());
  }

  // Messages of one repeat.
  static constexpr std::uint64_t kWhole = 0, kPing = 1, kPong = 2, kMessages = 3;

  [[nodiscard]] SyncId message(std::uint64_t which) const {
    return SyncId{repeats_ * kMessages + which};
  }

  std::unique_ptr<Request> exchange_number(Transfer::Way way, std::uint32_t peer,
                                           std::uint64_t which) {
    const Transfer transfer{way, peer, slots_.entries(), 1};
    return transport_.exchange(message(which), {&transfer, 1});
  }

  // Notes by how much the transfers were over before the last one.
  void receive_all(std::span<const std::uint32_t> group, std::size_t count) {
    std::vector<std::unique_ptr<Request>> requests;
    const auto from = senders(group);
    for (std::size_t i = 1; i < from.size(); ++i) {
      const Transfer transfer{Transfer::Way::Receive, from[i],
                              received_.entries() + (i - 1) * count, count};
      requests.push_back(transport_.exchange(message(kWhole), {&transfer, 1}));
    }
    const auto last = group.back();
    auto ping = kind_ == Pattern::Kind::Ping ? exchange_number(Transfer::Way::Receive, last, kPing)
                                             : nullptr;
    const auto begin = Clock::now();
    Naps naps;
    std::vector<double> ends;
    while (ends.size() < requests.size() || ping != nullptr) {
      for (auto& request : requests) {
        if (request == nullptr || !request->test()) continue;
        request.reset();
        ends.push_back(since(begin));
      }
      if (ping != nullptr && ping->test()) {
        ping = nullptr;
        finish(*exchange_number(Transfer::Way::Send, last, kPong));
      }
      pause(begin, naps);
    }
    const double sum = std::accumulate(ends.begin(), ends.end(), 0.0);
    lead_ = 1 - sum / static_cast<double>(ends.size()) / ends.back();
  }

  // Seconds of one repeat at this rank; 0 when it takes no part.
  double repeat(const std::vector<std::uint32_t>* mine, std::size_t count) {
    ++repeats_;
    if (mine == nullptr) return 0;
    const bool pings = kind_ == Pattern::Kind::Ping && mine->back() == rank_;
    fill(count);
    barrier();
    if (pings) std::this_thread::sleep_for(std::chrono::duration<double>(half_way_));
    const auto begin = Clock::now();
    communicate(*mine, count);
    const double took = since(begin);
    check(*mine, count);
    return kind_ == Pattern::Kind::Ping && !pings ? 0 : took;
  }

  PatternTiming time(const std::vector<std::uint32_t>* mine, std::uint64_t bytes) {
    const std::size_t count = std::max<std::size_t>(1, bytes / sizeof(float));
    double warm = 0;
    half_way_ = 0;
    for (std::uint32_t i = 0; i < options_.warm_up; ++i) {
      const auto begin = Clock::now();
      repeat(mine, count);
      warm = largest(since(begin));
      half_way_ = warm / 2;
    }
    const auto fitting = static_cast<std::uint32_t>(
        std::min<double>(options_.most_repeats, options_.seconds_each / std::max(warm, 1e-6)));
    const std::uint32_t repeats = std::max(options_.least_repeats, fitting);
    std::vector<double> seconds(repeats);
    std::vector<double> leads(repeats);
    const Cpu before = cpu_now();
    for (std::uint32_t i = 0; i < repeats; ++i) {
      seconds[i] = repeat(mine, count);
      leads[i] = lead_;
    }
    const Cpu after = cpu_now();
    gather(0, Naps(kIdleNap));  // those that take no part wait here
    for (auto& each : seconds) each = largest(each);
    std::ranges::sort(seconds);
    PatternTiming timing{.bytes = count * sizeof(float), .repeats = repeats};
    timing.seconds = seconds[repeats / 2];
    timing.spread = (seconds[repeats * 3 / 4] - seconds[repeats / 4]) / timing.seconds;
    std::ranges::sort(leads);
    timing.lead = largest(leads[repeats / 2]);
    timing.busy = largest((after.busy - before.busy) / std::max(1.0, after.all - before.all));
    return timing;
  }

  Backend& backend_;
  Transport& transport_;
  VectorUnit& vectors_;
  const MeasurementOptions& options_;
  std::uint32_t rank_, ranks_;
  bool nap_;
  Buffer values_, received_, slots_, sums_;
  std::uint64_t repeats_ = 0;
  std::uint32_t communicators_ = 0;  // ids used so far, the same at all ranks
  CommunicatorId communicator_{};    // of this rank in the current pattern
  CommunicatorId taking_part_{};     // of all ranks in it
  Pattern::Kind kind_{};             // of the current pattern
  double half_way_ = 0;              // after which a ping is sent, seconds
  double lead_ = 0;                  // of the last repeat, at the first of an incast
  Watchdog watchdog_;
};

using Nodes = std::vector<std::vector<std::uint32_t>>;

// The ranks with this place on their nodes; fewer than two: none.
std::vector<std::uint32_t> across(const Nodes& nodes, std::size_t place) {
  std::vector<std::uint32_t> ranks;
  for (const auto& node : nodes)
    if (place < node.size()) ranks.push_back(node[place]);
  return ranks.size() > 1 ? ranks : std::vector<std::uint32_t>{};
}

void add(std::vector<Pattern>& patterns, const char* name, Pattern::Kind kind, Nodes groups) {
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  if (!groups.empty()) patterns.push_back({name, kind, std::move(groups)});
}

}  // namespace

std::vector<Pattern> patterns(const std::vector<std::vector<std::uint32_t>>& nodes) {
  using enum Pattern::Kind;
  const auto widest = *std::ranges::max_element(nodes, {}, [](const auto& n) { return n.size(); });
  const bool several = nodes.size() > 1;
  std::vector<Pattern> result;
  add(result, "inside a node", AllReduce, {widest});
  if (several) add(result, "inside every node at once", AllReduce, nodes);
  if (widest.size() > 1) add(result, "pair inside a node", Exchange, {{widest[0], widest[1]}});
  if (widest.size() > 3)
    add(result, "pairs inside a node, side by side", Exchange,
        {{widest[0], widest[1]}, {widest[2], widest[3]}});
  if (!several) return result;
  const auto first = across(nodes, 0);
  const auto second = across(nodes, 1);
  add(result, "across nodes", AllReduce, {first});
  if (!second.empty()) add(result, "across nodes, side by side", AllReduce, {first, second});
  add(result, "pair across nodes", Exchange, {{first[0], first[1]}});
  if (second.size() > 1)
    add(result, "pairs across nodes, side by side", Exchange,
        {{first[0], first[1]}, {second[0], second[1]}});
  auto to_one = first;
  for (const auto rank : second)
    if (std::ranges::find(nodes[0], rank) == nodes[0].end()) to_one.push_back(rank);
  if (to_one.size() > 2) add(result, "to one rank at once", Incast, {to_one});
  // Hosts enough to send faster than one takes in.
  if (to_one.size() > 3) add(result, "ping while others send to one rank", Ping, {to_one});
  if (widest.size() > 1) {
    std::vector<std::uint32_t> everybody;
    for (const auto& node : nodes) everybody.insert(everybody.end(), node.begin(), node.end());
    add(result, "everybody", AllReduce, {everybody});
  }
  return result;
}

std::vector<PatternResult> measure(Backend& backend, std::uint32_t rank, std::uint32_t ranks,
                                   const std::vector<Pattern>& patterns,
                                   const MeasurementOptions& options) {
  Measurement measurement(backend, rank, ranks, options);
  std::vector<PatternResult> results;
  for (const auto& pattern : patterns) results.push_back(measurement.run(pattern));
  return results;
}

}  // namespace cohort
