#include "runtime/live_operations.h"

#include <algorithm>
#include <utility>

namespace cohort {

LiveOperations::LiveOperations(Replica& replica, Transport& transport, bool rendezvous, Hooks hooks)
    : replica_(replica), transport_(transport), rendezvous_(rendezvous), hooks_(std::move(hooks)) {}

void LiveOperations::start(const message::Start& start, Time arrived) {
  live_.push_back({start, arrived, nullptr});
  if (!draws_rendezvous(start)) return;
  auto& bytes = met_[start.communicator];
  bytes = transport_.rendezvous();
  hooks_.send(message::Rendezvous{start.communicator, bytes});
}

void LiveOperations::meet(const message::Rendezvous& rendezvous) {
  met_[rendezvous.communicator] = rendezvous.bytes;
}

void LiveOperations::drop(CommunicatorId id) {
  met_.erase(id);
  if (communicators_.erase(id) > 0) transport_.destroy(id);
}

void LiveOperations::abort(SyncId sync) {
  const auto is_it = [sync](const Live& live) { return live.start.sync == sync; };
  const auto found = std::find_if(live_.begin(), live_.end(), is_it);
  if (found == live_.end()) return;
  live_.erase(found);
  hooks_.send(message::Failed{sync, "told to end it: a member was lost"});
}

void LiveOperations::clear() {
  live_.clear();
  met_.clear();
  for (const auto id : std::exchange(communicators_, {})) transport_.destroy(id);
}

bool LiveOperations::poll() {
  bool progress = false;
  for (auto at = live_.begin(); at != live_.end();) {
    const bool begins = at->operation == nullptr && may_begin(*at);
    if (begins) begin(*at);
    const bool over = at->operation != nullptr && look_at(*at);
    progress = progress || begins || over;
    if (!over && transport_.ordered()) return progress;
    at = over ? live_.erase(at) : std::next(at);
  }
  return progress;
}

bool LiveOperations::can_progress() const {
  const auto can = [this](const Live& live) {
    return live.operation != nullptr || may_begin(live);
  };
  if (live_.empty()) return false;
  if (transport_.ordered()) return can(live_.front());
  return std::any_of(live_.begin(), live_.end(), can);
}

bool LiveOperations::draws_rendezvous(const message::Start& start) const {
  return rendezvous_ && start.create && start.kind == SyncKind::GroupMean &&
         index(start.members.front().worker) == replica_.prepare().member;
}

bool LiveOperations::may_begin(const Live& live) const {
  return !rendezvous_ || !live.start.create || met_.contains(live.start.communicator);
}

void LiveOperations::begin(Live& live) {
  const auto& start = live.start;
  const auto in_background = [this](const Member& member) {
    return member.role == Role::Background && index(member.worker) == replica_.prepare().member;
  };
  if (std::any_of(start.members.begin(), start.members.end(), in_background)) {
    hooks_.await_snapshots();
  }
  std::vector<std::uint8_t> rendezvous;
  if (start.create) {
    communicators_.insert(start.communicator);
    if (auto met = met_.extract(start.communicator)) rendezvous = std::move(met.mapped());
  }
  live.operation =
      begin_operation(start, std::move(rendezvous), {replica_, transport_, hooks_.now});
}

bool LiveOperations::look_at(Live& live) try {
  if (!live.operation->poll()) return false;
  report(live);
  return true;
} catch (const SyncFailure& failure) {
  hooks_.send(message::Failed{live.start.sync, failure.what()});
  return true;
}

void LiveOperations::report(const Live& live) {
  auto done = live.operation->result();
  done.received = live.arrived;
  hooks_.send(done);
}

}  // namespace cohort
