#include "policies/group_buffer.h"

#include <string>

#include "policies/errors.h"
#include "policies/prefetch.h"

namespace cohort {

GroupBuffer::GroupBuffer(std::uint32_t workers, std::size_t seats) : queues_(workers) {
  seats_.reserve(seats);
  groups_.reserve(seats / 4 + 16);
}

void GroupBuffer::create(std::span<const WorkerId> members) {
  const auto group = take_group();
  std::uint32_t last = kNone;
  for (const auto worker : members) {
    auto& queue = queues_[index(worker)];
    if (queue.head == kRemoved)
      throw ContractError("group buffer: worker " + std::to_string(index(worker)) +
                          " is gone and cannot join a group");
    const auto seat = take_seat();
    seats_[seat] = {.worker = worker, .group = group};
    (last == kNone ? groups_[group].first_seat : seats_[last].next_in_group) = seat;
    (queue.head == kNone ? queue.head : seats_[queue.tail].next_in_queue) = seat;
    queue.tail = seat;
    last = seat;
  }
  groups_[group].size = static_cast<std::uint32_t>(members.size());
}

void GroupBuffer::ready(WorkerId worker, Actions& out) {
  auto& queue = queues_[index(worker)];
  if (empty(worker))
    throw ContractError("group buffer: worker " + std::to_string(index(worker)) +
                        " is ready but in no group");
  queue.ready = 1;
  const auto group = seats_[queue.head].group;
  ++groups_[group].ready;
  start_if_complete(group, out);
}

void GroupBuffer::done(SyncId sync, Actions& out) {
  const auto group = end_of(sync);
  release_members(group, out);
  free_group(group);
}

void GroupBuffer::failed(SyncId sync, Actions& out) {
  const auto group = end_of(sync);
  groups_[group].live = false;
  if (groups_[group].size == 0)
    free_group(group);
  else
    start_if_complete(group, out);
}

void GroupBuffer::remove(WorkerId worker, Actions& out) {
  auto& queue = queues_[index(worker)];
  const bool was_ready = queue.ready == 1;
  auto seat = queue.head;
  queue = {.head = kRemoved};
  for (bool at_head = true; seat < kRemoved; at_head = false) {
    const auto next = seats_[seat].next_in_queue;
    withdraw(seat, at_head && was_ready, out);
    seat = next;
  }
}

// The FIFO, its head, the head's group, its first seat.
void GroupBuffer::expect(WorkerId worker, unsigned step) const {
  const auto& queue = queues_[index(worker)];
  if (step == 0) return prefetch(&queue);
  if (empty(worker)) return;
  const auto& seat = seats_[queue.head];
  if (step == 1) return prefetch(&seat);
  expect_group(seat.group, step > 2);
}

// The place in the table, the group, its first seat.
void GroupBuffer::expect_end(SyncId sync, unsigned step) const {
  if (step == 0) return live_.expect(sync);
  if (const auto* group = live_.find(sync)) expect_group(*group, step > 1);
}

void GroupBuffer::expect_group(std::uint32_t group, bool near) const {
  if (!near) return prefetch(&groups_[group]);
  if (groups_[group].first_seat != kNone) prefetch(&seats_[groups_[group].first_seat]);
}

// Takes the seat of a removed worker out of its group.
void GroupBuffer::withdraw(std::uint32_t seat, bool counted_ready, Actions& out) {
  const auto index_of_group = seats_[seat].group;
  auto& group = groups_[index_of_group];
  auto* link = &group.first_seat;
  while (*link != seat) link = &seats_[*link].next_in_group;
  *link = seats_[seat].next_in_group;
  seats_[seat].next_in_group = free_seat_;
  free_seat_ = seat;
  --group.size;
  if (counted_ready) --group.ready;
  if (group.live) return;
  if (group.size == 0)
    free_group(index_of_group);
  else
    start_if_complete(index_of_group, out);
}

void GroupBuffer::start_if_complete(std::uint32_t group, Actions& out) {
  if (groups_[group].ready < groups_[group].size) return;
  if (groups_[group].size > 1) {
    start(group, out);
  } else {
    release_members(group, out);
    free_group(group);
  }
}

void GroupBuffer::start(std::uint32_t group, Actions& out) {
  const SyncId sync{next_sync_++};
  live_.insert(sync, group);
  groups_[group].live = true;
  out.start(sync, SyncKind::GroupMean);
  const double weight = 1.0 / groups_[group].size;
  for (auto seat = groups_[group].first_seat; seat != kNone; seat = seats_[seat].next_in_group)
    out.add_member(seats_[seat].worker, Role::Blocking, weight);
}

// The group is the head of all its members.
void GroupBuffer::release_members(std::uint32_t group, Actions& out) {
  for (auto seat = groups_[group].first_seat; seat != kNone;) {
    auto& place = seats_[seat];
    auto& queue = queues_[index(place.worker)];
    queue.head = place.next_in_queue;
    queue.ready = 0;
    out.release(place.worker);
    const auto next = place.next_in_group;
    place.next_in_group = free_seat_;
    free_seat_ = seat;
    seat = next;
  }
}

std::uint32_t GroupBuffer::end_of(SyncId sync) {
  const auto group = live_.take(sync);
  if (!group)
    throw ContractError("group buffer: synchronisation " + std::to_string(index(sync)) +
                        " is not live");
  return *group;
}

std::uint32_t GroupBuffer::take_seat() {
  if (free_seat_ == kNone) {
    seats_.emplace_back();
    return static_cast<std::uint32_t>(seats_.size() - 1);
  }
  const auto seat = free_seat_;
  free_seat_ = seats_[seat].next_in_group;
  if (free_seat_ != kNone) prefetch(&seats_[free_seat_]);
  return seat;
}

std::uint32_t GroupBuffer::take_group() {
  if (free_group_ == kNone) {
    groups_.emplace_back();
    return static_cast<std::uint32_t>(groups_.size() - 1);
  }
  const auto group = free_group_;
  free_group_ = groups_[group].first_seat;
  groups_[group] = {};
  return group;
}

void GroupBuffer::free_group(std::uint32_t group) {
  groups_[group].first_seat = free_group_;
  free_group_ = group;
}

}  // namespace cohort
