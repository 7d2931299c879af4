// The life of a synchronisation in the group generator: start, reports of its members, done or
// failed.
#include <fmt/format.h>

#include <algorithm>

#include "policies/errors.h"
#include "runtime/codec.h"
#include "runtime/group_generator_state.h"
#include "runtime/mean_check.h"

namespace cohort {

void GroupGenerator::State::start(const Action& action) {
  const auto members = actions.members(action);
  auto& sync = live[index(action.sync)];
  sync.kind = action.sync_kind;
  sync.unreported = static_cast<std::uint32_t>(members.size());
  sync.reported.resize(members.size());
  if (setup.verify) sync.samples.resize(members.size());
  sync.timing = record.syncs.size();
  auto& timing = record.syncs.emplace_back();
  timing.id = action.sync;
  timing.kind = action.sync_kind;
  timing.decided = now;
  for (const auto& member : members) {
    timing.members.push_back({.member = member});
    const auto number = index(member.worker);
    if (number >= workers.size()) continue;
    ++workers[number].live;
    if (member.role == Role::Blocking) record.steps[workers[number].timing].sync = action.sync;
    if (lost[number])
      return end(name(number) + ", lost when it had left, is needed in " + name(timing));
  }
  message::Start message{.sync = action.sync,
                         .kind = action.sync_kind,
                         .step = action.step,
                         .members = {members.begin(), members.end()}};
  if (sync.kind == SyncKind::GroupMean) communicate(sync, members, message);
  const Message sent = std::move(message);
  for (const auto& member : members) send(index(member.worker), sent);
}

void GroupGenerator::State::communicate(Sync& sync, std::span<const Member> members,
                                        message::Start& message) {
  sync.communicator = communicators.acquire(members);
  tell_dropped();
  message.communicator = sync.communicator.id;
  message.create = sync.communicator.create;
  timing(sync).created = sync.communicator.create;
}

void GroupGenerator::State::tell_dropped() {
  for (const auto& [id, members] : communicators.dropped())
    for (const auto member : members) send(index(member), message::Drop{id});
}

std::pair<GroupGenerator::State::Live::iterator, std::size_t> GroupGenerator::State::report(
    std::uint32_t member, SyncId id) {
  const auto sync = live.find(index(id));
  if (sync == live.end())
    throw FrameError("synchronisation " + std::to_string(index(id)) + " is not live");
  const auto& members = timing(sync->second).members;
  const auto found = std::ranges::find(
      members, WorkerId{member}, [](const MemberTiming& timing) { return timing.member.worker; });
  const auto place = static_cast<std::size_t>(found - members.begin());
  if (found == members.end() || sync->second.reported[place])
    throw FrameError("a report on " + name(timing(sync->second)) + " out of turn");
  return {sync, place};
}

void GroupGenerator::State::done(std::uint32_t member, const message::Done& message) {
  const auto [found, place] = report(member, message.sync);
  auto& sync = found->second;
  if (std::min({message.received, message.began, message.communicator}) < Time{} ||
      message.ended < message.began)
    throw FrameError("a transfer ends before it begins");
  check_samples(sync, place, message);
  auto& timed = timing(sync).members[place];
  timed.received = message.received - origin;
  timed.communicator = message.communicator;
  timed.began = message.began - origin;
  timed.ended = message.ended - origin;
  if (setup.verify) sync.samples[place] = message.samples;
  sync.reported[place] = true;
  --sync.unreported;
  advance(found);
}

void GroupGenerator::State::check_samples(const Sync& sync, std::size_t place,
                                          const message::Done& message) const {
  const auto role = timing(sync).members[place].member.role;
  if (!setup.verify || !is_verified(sync.kind, role)) return;
  const auto length = [](const auto& samples) { return samples.front().entries.size(); };
  if (message.samples.size() != 2 ||
      message.samples.back().entries.size() != length(message.samples))
    throw FrameError("a mean without the two samples that verify it");
  for (const auto& other : sync.samples)
    if (!other.empty() && length(other) != length(message.samples))
      throw FrameError("a mean with samples of another length than its other members'");
}

void GroupGenerator::State::failed(std::uint32_t member, const message::Failed& message) {
  const auto [found, place] = report(member, message.sync);
  auto& sync = found->second;
  sync.reported[place] = true;
  --sync.unreported;
  if (sync.reason.empty()) sync.reason = name(member) + ": " + message.reason;
  abort(found);
}

void GroupGenerator::State::pass_on(std::uint32_t member, const message::Rendezvous& message) {
  const auto creates = [&](const auto& entry) {
    const Sync& sync = entry.second;
    return sync.kind == SyncKind::GroupMean && sync.communicator.create && !sync.rendezvous &&
           sync.communicator.id == message.communicator &&
           timing(sync).members.front().member.worker == WorkerId{member};
  };
  const auto found = std::ranges::find_if(live, creates);
  if (found == live.end()) throw FrameError("a rendezvous out of turn");
  found->second.rendezvous = true;
  for (const auto& other : timing(found->second).members)
    if (index(other.member.worker) != member) send(index(other.member.worker), message);
}

// Tells those who have not reported to give up; also again after another loss.
void GroupGenerator::State::abort(Live::iterator found) {
  auto& [id, sync] = *found;
  const auto& members = timing(sync).members;
  sync.unreported = 0;
  for (std::size_t place = 0; place < members.size(); ++place) {
    const auto member = index(members[place].member.worker);
    if (sync.reported[place] || lost[member]) continue;
    ++sync.unreported;
    if (!sync.failing) send(member, message::Abort{SyncId{id}});
  }
  if (!std::exchange(sync.failing, true))
    outbox.set_timer(TimerId{kOwnTimers + id}, origin + now + kFailureLimit);
  advance(found);
}

// What the latest report or loss has brought it to.
void GroupGenerator::State::advance(Live::iterator found) {
  const auto& sync = found->second;
  if (sync.unreported > 0) return;
  if (!sync.failing) return finish(found);
  const bool loss = std::ranges::any_of(timing(sync).members, [this](const MemberTiming& member) {
    return lost[index(member.member.worker)];
  });
  if (loss || phase == Phase::Stopping) fail(found);
}

void GroupGenerator::State::finish(Live::iterator found) {
  const auto& sync = found->second;
  auto& timed = timing(sync);
  timed.done = now;
  if (setup.verify && !verify(sync)) return;
  const auto began = std::ranges::min(timed.members, {}, &MemberTiming::began).began;
  const auto ended = std::ranges::max(timed.members, {}, &MemberTiming::ended).ended;
  const SyncId id = timed.id;
  retire(found);
  if (phase == Phase::Running) deliver(Event::done(now, id, ended - began));
}

void GroupGenerator::State::fail(Live::iterator found) {
  auto& timed = timing(found->second);
  timed.failed = true;
  timed.done = now;
  const SyncId id = timed.id;
  outbox.cancel_timer(TimerId{kOwnTimers + index(id)});
  retire(found);
  if (phase == Phase::Running) deliver(Event::failed(now, id));
}

void GroupGenerator::State::retire(Live::iterator found) {
  const auto& sync = found->second;
  for (const auto& member : timing(sync).members)
    if (index(member.member.worker) < workers.size()) leave(index(member.member.worker));
  const bool shared = sync.kind == SyncKind::GroupMean;
  if (shared) communicators.release(sync.communicator.list);
  live.erase(found);
  if (shared) tell_dropped();
}

// False, and the run has ended, when a mean is wrong.
bool GroupGenerator::State::verify(const Sync& sync) {
  auto& timed = timing(sync);
  if (!is_verified(sync.kind, Role::Blocking)) return true;
  std::vector<Member> members;
  for (const auto& member : timed.members) members.push_back(member.member);
  const auto error = mean_error(sync.kind, members, sync.samples, setup.entries);
  timed.largest_error = error.largest;
  if (error.largest <= kMeanTolerance) return true;
  end(fmt::format("the mean that {} has from {} is off by {:.2g}, relative; at most {} is rounding",
                  name(index(members[error.member].worker)), name(timed), error.largest,
                  kMeanTolerance));
  return false;
}

void GroupGenerator::State::overdue(std::uint64_t id) {
  const auto found = live.find(id);
  if (found == live.end()) return;
  const auto& sync = found->second;
  end(sync.unreported > 0
          ? "a failed synchronisation did not end in time: " + unreported()
          : name(timing(sync)) + " failed although no member was lost: " + sync.reason);
}

std::vector<std::uint64_t> GroupGenerator::State::syncs_of(std::uint32_t member) const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, sync] : live)
    if (std::ranges::any_of(timing(sync).members, [member](const MemberTiming& other) {
          return index(other.member.worker) == member;
        }))
      ids.push_back(id);
  return ids;
}

std::string GroupGenerator::State::name(const SyncTiming& sync) const {
  std::string who;
  for (const auto& member : sync.members)
    who += (who.empty() ? "" : ", ") + name(index(member.member.worker));
  return "synchronisation " + std::to_string(index(sync.id)) + " of " + who;
}

std::string GroupGenerator::State::names_of(std::span<const std::uint64_t> syncs) const {
  std::string text;
  for (const auto id : syncs) text += (text.empty() ? "" : " and ") + name(timing(live.at(id)));
  return text.empty() ? "no synchronisation" : text;
}

std::string GroupGenerator::State::unreported() const {
  std::string text;
  for (const auto& [id, sync] : live) {
    std::string who;
    const auto& members = timing(sync).members;
    for (std::size_t place = 0; place < members.size(); ++place) {
      const auto member = index(members[place].member.worker);
      if (!sync.reported[place] && !lost[member]) who += (who.empty() ? "" : ", ") + name(member);
    }
    if (!who.empty())
      text += (text.empty() ? "" : "; ") + who + " did not report on " + name(timing(sync));
  }
  return text;
}

}  // namespace cohort
