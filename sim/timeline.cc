#include "sim/timeline.h"

#include <fmt/format.h>

#include <iterator>
#include <ostream>

#include "policies/packed_member.h"

namespace cohort {
namespace {

constexpr const char* kNames[] = {"compute", "wait", "sync", "coordinate"};

double microseconds(Time time) { return static_cast<double>(time.count()) * 1e-3; }

void write_names(fmt::memory_buffer& text, const Topology& topology) {
  auto out = std::back_inserter(text);
  for (std::uint32_t node = 0; node < topology.nodes(); ++node)
    fmt::format_to(
        out, R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"node {0}"}}}},{1})",
        node, '\n');
  for (std::uint32_t worker = 0; worker < topology.workers(); ++worker) {
    const auto node = topology.node_of(WorkerId{worker});
    fmt::format_to(
        out,
        R"({{"ph":"M","name":"thread_name","pid":{1},"tid":{0},"args":{{"name":"worker {0}"}}}},{2})",
        worker, node, '\n');
    fmt::format_to(
        out,
        R"({{"ph":"M","name":"thread_name","pid":{1},"tid":{3},"args":{{"name":"worker {0} background"}}}},{2})",
        worker, node, '\n', topology.workers() + worker);
  }
}

}  // namespace

void Timeline::interval(std::uint32_t worker, Spent how, Time begin, Time end) {
  if (end > begin) intervals_.push_back({.begin = begin, .end = end, .worker = worker, .how = how});
}

void Timeline::synchronised(std::uint32_t worker, SyncId sync,
                            std::span<const PackedMember> members, Time begin, Time end) {
  add(worker, sync, members, begin, end, false);
}

void Timeline::background(std::uint32_t worker, SyncId sync, std::span<const PackedMember> members,
                          Time begin, Time end) {
  add(worker, sync, members, begin, end, true);
}

void Timeline::add(std::uint32_t worker, SyncId sync, std::span<const PackedMember> members,
                   Time begin, Time end, bool background) {
  // Members of one synchronisation are recorded one after another, so its list is kept once.
  const bool again = !intervals_.empty() && intervals_.back().member_count > 0 &&
                     intervals_.back().sync == index(sync);
  const auto first =
      again ? intervals_.back().first_member : static_cast<std::uint32_t>(members_.size());
  if (!again)
    for (const auto& member : members) members_.push_back(index(member.worker()));
  intervals_.push_back({.begin = begin,
                        .end = end,
                        .sync = index(sync),
                        .worker = worker,
                        .first_member = first,
                        .member_count = static_cast<std::uint32_t>(members.size()),
                        .how = Spent::Sync,
                        .background = background});
}

void Timeline::write(std::ostream& out, const Topology& topology) const {
  fmt::memory_buffer text;
  auto to = std::back_inserter(text);
  fmt::format_to(to, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  write_names(text, topology);
  for (const auto& interval : intervals_) {
    fmt::format_to(to, R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f})",
                   kNames[static_cast<std::size_t>(interval.how)],
                   topology.node_of(WorkerId{interval.worker}),
                   interval.worker + (interval.background ? topology.workers() : 0),
                   microseconds(interval.begin), microseconds(interval.end - interval.begin));
    if (interval.member_count > 0) {
      const auto members =
          std::span(members_).subspan(interval.first_member, interval.member_count);
      fmt::format_to(to, R"(,"args":{{"sync":{},"members":[{}]}})", interval.sync,
                     fmt::join(members, ","));
    }
    fmt::format_to(to, "}},\n");
  }
  fmt::format_to(to, R"({{"ph":"M","name":"end","pid":0,"args":{{}}}})");
  fmt::format_to(to, "\n]}}\n");
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace cohort
