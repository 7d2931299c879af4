#include "policies/group_buffer.h"

#include <string>
#include <utility>

#include "policies/errors.h"
#include "policies/prefetch.h"

namespace cohort {
namespace {

[[noreturn]] void refuse(WorkerId worker, const char* what) {
  throw ContractError("group buffer: worker " + std::to_string(index(worker)) + what);
}

}  // namespace

GroupBuffer::GroupBuffer(std::uint32_t workers, std::size_t seats) : queues_(workers) {
  rows_.reserve(seats / Row::kSeats);
  groups_.reserve(seats / Row::kSeats + 16);
}

void GroupBuffer::create(std::span<const WorkerId> members) {
  const auto group = take_group();
  std::uint32_t row = kNone;
  std::uint32_t place = Row::kSeats;
  for (const auto worker : members) {
    auto& queue = queues_[index(worker)];
    if (queue.head == kRemoved) refuse(worker, " is gone and cannot join a group");
    if (place == Row::kSeats) {
      row = add_row(group, row);
      place = 0;
    }
    const auto seat = row * Row::kSeats + place;
    Row& seats = rows_[row];
    seats.worker[place] = worker;
    seats.behind[place++] = kNone;
    (queue.head == kNone ? queue.head : row_of(queue.tail).behind[queue.tail % Row::kSeats]) = seat;
    queue.tail = seat;
  }
  groups_[group].size = static_cast<std::uint32_t>(members.size());
}

template <typename Visit>
void GroupBuffer::for_each_seat(std::uint32_t group, Visit&& visit) {
  for (auto number = groups_[group].first_row; number != kNone; number = rows_[number].next) {
    auto& row = rows_[number];
    for (std::uint32_t place = 0; place < Row::kSeats; ++place)
      if (row.worker[place] != Row::kNobody) visit(row, place);
  }
}

void GroupBuffer::ready(WorkerId worker, Actions& out) {
  auto& queue = queues_[index(worker)];
  if (empty(worker)) refuse(worker, " is ready but in no group");
  queue.ready = 1;
  const auto group = row_of(queue.head).group;
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
    const auto next = row_of(seat).behind[seat % Row::kSeats];
    withdraw(seat, at_head && was_ready, out);
    seat = next;
  }
}

// The FIFO, the row of its head, the head's group.
void GroupBuffer::expect(WorkerId worker, unsigned step) const {
  const auto& queue = queues_[index(worker)];
  if (step == 0) return prefetch(&queue);
  if (empty(worker)) return;
  if (step == 1) return expect_row(queue.head / Row::kSeats);
  if (step == 2) prefetch(&groups_[rows_[queue.head / Row::kSeats].group]);
}

// The place in the table, the group, its first row.
void GroupBuffer::expect_end(SyncId sync, unsigned step) const {
  if (step == 0) return live_.expect(sync);
  const auto* group = live_.find(sync);
  if (group == nullptr) return;
  if (step == 1) return prefetch(&groups_[*group]);
  expect_row(groups_[*group].first_row);
}

void GroupBuffer::expect_row(std::uint32_t row) const {
  prefetch(&rows_[row]);
  prefetch(&rows_[row].behind.back());
}

// Takes a removed worker out of its group; the seat stays empty for as long as there is the group.
void GroupBuffer::withdraw(std::uint32_t seat, bool counted_ready, Actions& out) {
  auto& row = row_of(seat);
  row.worker[seat % Row::kSeats] = Row::kNobody;
  const auto index_of_group = row.group;
  auto& group = groups_[index_of_group];
  --group.size;
  if (counted_ready) --group.ready;
  if (group.live) return;
  if (group.size == 0)
    free_group(index_of_group);
  else
    start_if_complete(index_of_group, out);
}

void GroupBuffer::complete(std::uint32_t group, Actions& out) {
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
  for_each_seat(group, [&](const Row& row, std::uint32_t place) {
    out.add_member(row.worker[place], Role::Blocking, weight);
  });
}

// The group is the head of all its members.
void GroupBuffer::release_members(std::uint32_t group, Actions& out) {
  for_each_seat(group, [&](const Row& row, std::uint32_t place) {
    auto& queue = queues_[index(row.worker[place])];
    queue.head = row.behind[place];
    queue.ready = 0;
    out.release(row.worker[place]);
  });
}

std::uint32_t GroupBuffer::end_of(SyncId sync) {
  const auto group = live_.take(sync);
  if (!group)
    throw ContractError("group buffer: synchronisation " + std::to_string(index(sync)) +
                        " is not live");
  return *group;
}

// An empty row of the group, behind its last one, if it has one already.
std::uint32_t GroupBuffer::add_row(std::uint32_t group, std::uint32_t last) {
  auto taken = free_row_;
  if (taken == kNone) {
    taken = new_row();
  } else {
    free_row_ = rows_[taken].next;
    if (free_row_ != kNone) expect_row(free_row_);
  }
  rows_[taken].group = group;
  rows_[taken].next = kNone;
  rows_[taken].worker.fill(Row::kNobody);
  (last == kNone ? groups_[group].first_row : rows_[last].next) = taken;
  return taken;
}

std::uint32_t GroupBuffer::take_group() {
  if (free_group_ == kNone) return new_group();
  const auto group = free_group_;
  free_group_ = groups_[group].first_row;
  groups_[group] = {};
  return group;
}

std::uint32_t GroupBuffer::new_group() {
  groups_.emplace_back();
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

std::uint32_t GroupBuffer::new_row() {
  rows_.emplace_back();
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

void GroupBuffer::free_group(std::uint32_t group) {
  auto last = groups_[group].first_row;
  while (rows_[last].next != kNone) last = rows_[last].next;
  rows_[last].next = std::exchange(free_row_, groups_[group].first_row);
  groups_[group].first_row = free_group_;
  free_group_ = group;
}

}  // namespace cohort
