#include "policies/communicator_cache.h"

#include <algorithm>

#include "policies/errors.h"

namespace cohort {
namespace {

// Independent of the order; each member well mixed ([Steele 2014], SplitMix64).
std::uint64_t hash_of(std::span<const Member> members) {
  std::uint64_t sum = 0;
  for (const auto& member : members) {
    std::uint64_t x = (index(member.worker) + 1) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    sum += x ^ (x >> 31);
  }
  return sum;
}

}  // namespace

CommunicatorCache::CommunicatorCache(std::uint32_t workers, std::uint32_t capacity)
    : capacity_(capacity), lrus_(workers), cells_(16, kNone), mark_(workers) {
  if (capacity == 0) throw ContractError("communicator cache: a capacity of at least 1 is needed");
}

CommunicatorCache::Lease CommunicatorCache::acquire(std::span<const Member> members) {
  dropped_.clear();
  const auto hash = hash_of(members);
  auto list = find(hash, members);
  const bool hit = list != kNone;
  if (hit) {
    ++counts_.hits;
    for (auto seat = entries_[list].first_seat; seat != kNone; seat = seats_[seat].next_in_list)
      touch(seat);
    ++entries_[list].uses;
  } else {
    ++counts_.misses;
    list = create(hash, members);
    ++entries_[list].uses;
    trim_members(list);
  }
  return {List{list}, hit};
}

void CommunicatorCache::release(List list) {
  dropped_.clear();
  auto& entry = entries_[static_cast<std::uint32_t>(list)];
  if (entry.uses == 0) throw ContractError("communicator cache: a released list was not live");
  if (--entry.uses == 0) trim_members(static_cast<std::uint32_t>(list));
}

std::uint32_t CommunicatorCache::find(std::uint64_t hash, std::span<const Member> members) {
  auto list = cells_[hash & (cells_.size() - 1)];
  while (list != kNone && !(entries_[list].hash == hash && same_members(entries_[list], members)))
    list = entries_[list].next_same;
  return list;
}

bool CommunicatorCache::same_members(const Entry& entry, std::span<const Member> members) {
  if (entry.size != members.size()) return false;
  if (++comparison_ == 0) {
    std::ranges::fill(mark_, 0);
    comparison_ = 1;
  }
  for (const auto& member : members) mark_[index(member.worker)] = comparison_;
  for (auto seat = entry.first_seat; seat != kNone; seat = seats_[seat].next_in_list)
    if (mark_[index(seats_[seat].worker)] != comparison_) return false;
  return true;
}

std::uint32_t CommunicatorCache::create(std::uint64_t hash, std::span<const Member> members) {
  if (++lists_ > cells_.size()) grow_cells();
  auto list = free_entry_;
  if (list == kNone) {
    list = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    free_entry_ = entries_[list].next_same;
  }
  auto& cell = cells_[hash & (cells_.size() - 1)];
  entries_[list] = {
      .hash = hash, .size = static_cast<std::uint32_t>(members.size()), .next_same = cell};
  cell = list;
  for (const auto& member : members) {
    auto seat = free_seat_;
    if (seat == kNone) {
      seat = static_cast<std::uint32_t>(seats_.size());
      seats_.emplace_back();
    } else {
      free_seat_ = seats_[seat].next_in_list;
    }
    seats_[seat] = {
        .worker = member.worker, .list = list, .next_in_list = entries_[list].first_seat};
    entries_[list].first_seat = seat;
    link_newest(seat);
  }
  return list;
}

void CommunicatorCache::touch(std::uint32_t seat) {
  if (lrus_[index(seats_[seat].worker)].newest == seat) return;
  unlink(seat);
  link_newest(seat);
}

void CommunicatorCache::link_newest(std::uint32_t seat) {
  auto& lru = lrus_[index(seats_[seat].worker)];
  seats_[seat].newer = kNone;
  seats_[seat].older = lru.newest;
  (lru.newest == kNone ? lru.oldest : seats_[lru.newest].newer) = seat;
  lru.newest = seat;
  ++lru.size;
}

void CommunicatorCache::unlink(std::uint32_t seat) {
  auto& lru = lrus_[index(seats_[seat].worker)];
  const auto newer = seats_[seat].newer;
  const auto older = seats_[seat].older;
  (newer == kNone ? lru.newest : seats_[newer].older) = older;
  (older == kNone ? lru.oldest : seats_[older].newer) = newer;
  --lru.size;
}

// Trimming a member may drop `list` itself, when it is no longer live; its seats are then free.
void CommunicatorCache::trim_members(std::uint32_t list) {
  for (auto seat = entries_[list].first_seat; seat != kNone;) {
    const auto next = seats_[seat].next_in_list;
    trim(seats_[seat].worker);
    seat = entries_[list].size == 0 ? kNone : next;
  }
}

void CommunicatorCache::trim(WorkerId worker) {
  auto& lru = lrus_[index(worker)];
  for (auto seat = lru.oldest; seat != kNone && lru.size > capacity_;) {
    const auto newer = seats_[seat].newer;
    if (entries_[seats_[seat].list].uses == 0) drop(seats_[seat].list);
    seat = newer;
  }
}

void CommunicatorCache::drop(std::uint32_t list) {
  ++counts_.evictions;
  dropped_.push_back(List{list});
  --lists_;
  auto& entry = entries_[list];
  for (auto seat = entry.first_seat; seat != kNone;) {
    const auto next = seats_[seat].next_in_list;
    unlink(seat);
    seats_[seat].next_in_list = free_seat_;
    free_seat_ = seat;
    seat = next;
  }
  auto* link = &cells_[entry.hash & (cells_.size() - 1)];
  while (*link != list) link = &entries_[*link].next_same;
  *link = entry.next_same;
  entry = {.next_same = free_entry_};
  free_entry_ = list;
}

void CommunicatorCache::grow_cells() {
  std::vector<std::uint32_t> old(2 * cells_.size(), kNone);
  old.swap(cells_);
  for (auto list : old)
    while (list != kNone) {
      const auto next = entries_[list].next_same;
      auto& cell = cells_[entries_[list].hash & (cells_.size() - 1)];
      entries_[list].next_same = cell;
      cell = list;
      list = next;
    }
}

}  // namespace cohort
