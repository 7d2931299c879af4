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

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;

constexpr CommunicatorId kEverybody{0};
constexpr std::chrono::seconds kLongestWait{60};

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
        received_(vectors_, values_.count()),
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
    barrier();
    const auto begin = Clock::now();
    const bool reduces = pattern.kind == Pattern::Kind::AllReduce;
    if (reduces && mine != nullptr) finish(*transport_.create(communicator_, *mine, {}));
    result.create_seconds = largest(since(begin));
    for (const auto bytes : options_.bytes) result.timings.push_back(time(mine, reduces, bytes));
    if (reduces && mine != nullptr) transport_.destroy(communicator_);
    return result;
  }

 private:
  static double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  void finish(Request& request) {
    const auto limit = Clock::now() + kLongestWait;
    while (!request.test()) {
      if (Clock::now() > limit)
        throw EnvironmentError(
            fmt::format("rank {}: a collective of the measurement took over {} s", rank_,
                        kLongestWait.count()));
      if (nap_) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  // Every rank's value, at every rank.
  std::vector<float> gather(double value) {
    std::vector<float> values(ranks_, 0);
    values[rank_] = static_cast<float>(value);
    vectors_.write(values, slots_.entries());
    finish(*vectors_.fence());
    finish(*transport_.all_reduce(kEverybody, slots_.entries(), sums_.entries(), ranks_));
    finish(*vectors_.fence());
    vectors_.read(sums_.entries(), values);
    return values;
  }
  double largest(double value) {
    const auto values = gather(value);
    return *std::ranges::max_element(values);
  }
  void barrier() { static_cast<void>(gather(0)); }

  void fill(std::size_t count) {
    const std::vector<float> values(count, static_cast<float>(rank_ + 1));
    vectors_.write(values, values_.entries());
    finish(*vectors_.fence());
  }

  void check(const std::vector<std::uint32_t>& group, bool reduces, std::size_t count) {
    float expected = 0;
    for (const auto rank : group)
      if (reduces || rank != rank_) expected += static_cast<float>(rank + 1);
    std::vector<float> found(count);
    vectors_.read(received_.entries(), found);
    const auto wrong = std::ranges::find_if(found, [&](float value) { return value != expected; });
    if (wrong == found.end()) return;
    throw EnvironmentError(fmt::format("rank {}: {} of {} gave {} at entry {}, not {}", rank_,
                                       reduces ? "an all-reduce" : "an exchange", backend_.name(),
                                       *wrong, wrong - found.begin(), expected));
  }

  void communicate(const std::vector<std::uint32_t>& group, bool reduces, std::size_t count) {
    if (reduces) {
      finish(*transport_.all_reduce(communicator_, values_.entries(), received_.entries(), count));
    } else {
      const auto peer = group[0] == rank_ ? group[1] : group[0];
      const Transfer transfers[] = {{Transfer::Way::Send, peer, values_.entries(), count},
                                    {Transfer::Way::Receive, peer, received_.entries(), count}};
      finish(*transport_.exchange(SyncId{next_sync_}, transfers));
    }
    finish(*vectors_.fence());
  }

  // Seconds of one repeat at this rank; 0 when it takes no part.
  double repeat(const std::vector<std::uint32_t>* mine, bool reduces, std::size_t count) {
    if (mine != nullptr) fill(count);
    barrier();
    ++next_sync_;
    if (mine == nullptr) return 0;
    const auto begin = Clock::now();
    communicate(*mine, reduces, count);
    const double took = since(begin);
    check(*mine, reduces, count);
    return took;
  }

  PatternTiming time(const std::vector<std::uint32_t>* mine, bool reduces, std::uint64_t bytes) {
    const std::size_t count = std::max<std::size_t>(1, bytes / sizeof(float));
    double warm = 0;
    for (std::uint32_t i = 0; i < options_.warm_up; ++i)
      warm = largest(repeat(mine, reduces, count));
    const auto fitting = static_cast<std::uint32_t>(
        std::min<double>(options_.most_repeats, options_.seconds_each / std::max(warm, 1e-6)));
    const std::uint32_t repeats = std::max(options_.least_repeats, fitting);
    std::vector<double> seconds(repeats);
    const Cpu before = cpu_now();
    for (auto& each : seconds) each = repeat(mine, reduces, count);
    const Cpu after = cpu_now();
    for (auto& each : seconds) each = largest(each);
    std::ranges::sort(seconds);
    PatternTiming timing{.bytes = count * sizeof(float), .repeats = repeats};
    timing.seconds = seconds[repeats / 2];
    timing.spread = (seconds[repeats * 3 / 4] - seconds[repeats / 4]) / timing.seconds;
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
  std::uint64_t next_sync_ = 0;
  std::uint32_t communicators_ = 0;  // ids used so far, the same at all ranks
  CommunicatorId communicator_{};    // of this rank in the current pattern
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
