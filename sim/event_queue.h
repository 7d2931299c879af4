// The simulator's one event queue: a 4-ary heap of slots ordered by (time, seeded tie key, slot).
//
// A slot is a place for one pending event: each worker has one, each live synchronisation, timer and link straggler has one. So
// the queue carries no payload, an event can be moved or cancelled in O(log n), and nothing is allocated once warm. The tie key
// makes the order of one instant's events random but reproducible; the slot number only decides between equal keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

enum class Slot : std::uint32_t {};

// Memory that begins at a cache line.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
  bool operator==(const CacheLineAllocator&) const = default;
};

class EventQueue {
 public:
  struct Entry {
    Time at{};
    Slot slot{};
  };

  // Room for `events` pending events at once, so that exactly their memory is taken.
  void reserve(std::uint32_t events) { heap_.reserve((kRoot + events + kArity - 1) / kArity * kArity); }
  // Slots 0..slots-1 may be scheduled. Only grows.
  void grow(std::uint32_t slots) {
    if (slots > position_.capacity()) position_.reserve(slots + slots / 2);  // doubling would take more
    position_.resize(slots, kNone);
  }
  [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(position_.size()); }

  // Schedules the slot's event, or moves it when it is pending.
  void schedule(Slot slot, Time at, std::uint32_t tie) {
    const Node node{at.count(), (static_cast<std::uint64_t>(tie) << 32) | number(slot)};
    if (position_[number(slot)] == kNone && vacant_) {
      vacant_ = false;
      return sift_down(kRoot, node);
    }
    fill_vacancy();
    const std::uint32_t where = position_[number(slot)];
    if (where == kNone) {
      if (end_ == heap_.size()) heap_.resize(end_ + kArity, kNever);
      sift_up(end_++, node);
    } else if (node < heap_[where]) {
      sift_up(where, node);
    } else {
      sift_down(where, node);
    }
  }
  // Does nothing when the slot has no pending event.
  void cancel(Slot slot) {
    fill_vacancy();
    const std::uint32_t where = position_[number(slot)];
    if (where == kNone) return;
    position_[number(slot)] = kNone;
    const Node last = take_last();
    if (where == end_) return;
    if (where > kRoot && last < heap_[parent_of(where)]) {
      sift_up(where, last);
    } else {
      sift_down(where, last);
    }
  }
  [[nodiscard]] bool pending(Slot slot) const { return position_[number(slot)] != kNone; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::uint32_t size() const { return end_ - kRoot - (vacant_ ? 1 : 0); }

  // The earliest event; the queue is not empty.
  [[nodiscard]] Entry top() {
    fill_vacancy();
    return {Time{heap_[kRoot].at}, heap_[kRoot].slot()};
  }
  // After a pop: calls visit(depth, slot) for the events that come next to the top, nearest first. One that was at `depth` has
  // on average 4^depth / 2 events before it, and is met about once at each depth.
  template <class Visit>
  void for_each_rising(std::uint32_t depths, Visit visit) const {
    std::uint32_t where = kRoot;
    for (std::uint32_t depth = 1; depth <= depths && first_child(where) < end_; ++depth) {
      where = least_of_four(first_child(where));
      visit(depth, heap_[where].slot());
    }
  }
  Entry pop() {
    const Entry first = top();
    position_[number(first.slot)] = kNone;
    vacant_ = true;
    return first;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kArity = 4;
  static constexpr std::uint32_t kRoot = kArity - 1;  // so that the four children of one event share a cache line

  struct Node {
    std::int64_t at;
    std::uint64_t tie_and_slot;

    [[nodiscard]] Slot slot() const { return Slot{static_cast<std::uint32_t>(tie_and_slot)}; }
    // As one number, so that the comparison has no branch to mispredict; times are not negative.
    bool operator<(const Node& other) const { return key() < other.key(); }

   private:
    __extension__ using Key = unsigned __int128;
    [[nodiscard]] Key key() const { return (static_cast<Key>(at) << 64) | tie_and_slot; }
  };
  void fill_vacancy() {
    if (!vacant_) return;
    vacant_ = false;
    const Node last = take_last();
    if (end_ > kRoot) sift_down(kRoot, last);
  }
  Node take_last() {
    const Node last = heap_[--end_];
    heap_[end_] = kNever;
    return last;
  }
  static std::uint32_t first_child(std::uint32_t where) { return (where - kRoot + 1) * kArity; }
  static std::uint32_t parent_of(std::uint32_t where) { return where / kArity - 1 + kRoot; }
  static std::uint32_t number(Slot slot) { return static_cast<std::uint32_t>(slot); }

  void put(std::uint32_t where, const Node& node) {
    heap_[where] = node;
    position_[number(node.slot())] = where;
  }
  void sift_up(std::uint32_t where, const Node& node) {
    while (where > kRoot) {
      const std::uint32_t parent = parent_of(where);
      if (!(node < heap_[parent])) break;
      put(where, heap_[parent]);
      where = parent;
    }
    put(where, node);
  }
  // Two pairs, then the better of both: short dependencies.
  [[nodiscard]] std::uint32_t least_of_four(std::uint32_t first) const {
    const std::uint32_t left = first + (heap_[first + 1] < heap_[first] ? 1 : 0);
    const std::uint32_t right = first + 2 + (heap_[first + 3] < heap_[first + 2] ? 1 : 0);
    return heap_[right] < heap_[left] ? right : left;
  }
  void sift_down(std::uint32_t where, const Node& node) {
    for (std::uint32_t first; (first = first_child(where)) < end_;) {
      const std::uint32_t least = least_of_four(first);
      if (!(heap_[least] < node)) break;
      put(where, heap_[least]);
      where = least;
    }
    put(where, node);
  }

  static constexpr Node kNever{INT64_MAX, UINT64_MAX};

  // From kRoot to end_, then kNever to the end of the last event's siblings at least: a family is always four.
  std::vector<Node, CacheLineAllocator<Node>> heap_{kArity, kNever, CacheLineAllocator<Node>{}};
  std::uint32_t end_ = kRoot;
  bool vacant_ = false;  // the first place is free since the last pop; the next new event takes it
  std::vector<std::uint32_t> position_;  // of each slot in the heap, or kNone
};

}  // namespace cohort
