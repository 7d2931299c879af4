// The simulator's one event queue: slots ordered by (time, seeded tie key, slot).
//
// A slot is a place for one pending event: each worker has one, each live synchronisation, timer
// and link straggler has one. So the queue carries no payload, an event can be moved or cancelled,
// and nothing is allocated once warm. The tie key makes the order of one instant's events random
// but reproducible; the slot number only decides between equal keys.
//
// The next events stand sorted in front, where a driver can see them come; the rest is a radix heap
// ([Ahuja 1990]): one bucket for each place and value of the highest digit in which a key differs
// from base_, a key that none of them is below. When the front runs low, the lowest bucket moves
// into it, or, when that holds many, into lower buckets. So an event moves a few times through runs
// of memory, whereas in a heap ordered by comparisons each one walks the whole depth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

enum class Slot : std::uint32_t {};

class EventQueue {
 public:
  struct Entry {
    Time at{};
    Slot slot{};
  };
  // Of how many events to come peek() knows at least, if there are as many.
  static constexpr std::uint32_t kInSight = 16;

  // Room for `events` pending events at once, so that hardly more than their memory is taken.
  void reserve(std::uint32_t events);
  // Slots 0..slots-1 may be scheduled. Only grows.
  void grow(std::uint32_t slots) {
    if (slots > place_.capacity()) place_.reserve(slots + slots / 2);  // doubling would take more
    place_.resize(slots, kNone);
  }
  [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(place_.size()); }

  // Schedules the slot's event, or moves it when it is pending. Fast unless the event is to come
  // before one that was taken.
  void schedule(Slot slot, Time at, std::uint32_t tie) {
    if (pending(slot)) remove(slot);
    const auto low = (static_cast<std::uint64_t>(tie) << 32) | number(slot);
    insert((static_cast<Key>(at.count()) << 64) | low);
  }
  // Does nothing when the slot has no pending event.
  void cancel(Slot slot) {
    if (pending(slot)) remove(slot);
  }
  [[nodiscard]] bool pending(Slot slot) const { return place_[number(slot)] != kNone; }
  [[nodiscard]] bool empty() const { return front_begin_ == front_end_; }
  [[nodiscard]] std::uint32_t size() const { return front_size() + far_; }

  // The earliest event; the queue is not empty.
  [[nodiscard]] Entry top() const { return entry(in_front(0)); }
  Entry pop() {
    const Entry first = top();
    place_[number(first.slot)] = kNone;
    ++front_begin_;
    if (front_size() < kInSight && far_ > 0) refill();
    return first;
  }
  // The slot of the event that `events` others come before, if the queue knows it yet.
  [[nodiscard]] std::optional<Slot> peek(std::uint32_t events) const {
    if (events >= front_size()) return std::nullopt;
    return entry(in_front(events)).slot;
  }

 private:
  // Time, tie key and slot, in 64, 32 and 32 bits. Times are not negative.
  __extension__ using Key = unsigned __int128;

  static constexpr std::uint32_t kFront = 64;  // at most
  static constexpr std::uint32_t kRoom = 4;    // times that: it drifts, and centre() is rare
  static constexpr std::uint32_t kFew = 32;    // as many from one bucket go to the front at once
  static constexpr std::uint32_t kDigitBits = 6, kDigits = (128 + kDigitBits - 1) / kDigitBits;
  static constexpr std::uint32_t kValues = 1U << kDigitBits;
  static constexpr std::uint32_t kChunk = 16;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF, kInFront = 0xFFFFFFFE;
  static_assert(kInSight + kFew <= kFront);

  using Chunk = std::array<Key, kChunk>;
  struct Bucket {
    std::uint32_t chunk = kNone;  // the last; all but it are full
    std::uint32_t size = 0;       // keys
  };

  static std::uint32_t number(Slot slot) { return static_cast<std::uint32_t>(slot); }
  static std::uint32_t slot_of(Key key) { return static_cast<std::uint32_t>(key); }
  static Entry entry(Key key) {
    return {Time{static_cast<std::int64_t>(key >> 64)}, Slot{slot_of(key)}};
  }
  [[nodiscard]] std::uint32_t front_size() const { return front_end_ - front_begin_; }
  [[nodiscard]] const Key& in_front(std::uint32_t i) const { return front_[front_begin_ + i]; }
  [[nodiscard]] Key& in_front(std::uint32_t i) { return front_[front_begin_ + i]; }
  [[nodiscard]] const Key& last_in_front() const { return front_[front_end_ - 1]; }

  // The front is never empty while a bucket is not.
  void insert(Key key) {
    const bool full = front_size() == kFront;
    if ((full || far_ > 0) && key > last_in_front()) return put_far(key);
    if (full) {
      --front_end_;
      put_far(front_[front_end_]);
    }
    insert_in_front(key);
  }
  // Moves the events before its place or those behind it, whichever are fewer, near enough: an end
  // that is near comes before the middle, that of a computation behind it.
  void insert_in_front(Key key) {
    if (front_begin_ == 0 || front_end_ == front_.size()) centre();
    Key* place;
    if (front_size() > 1 && key < in_front(front_size() / 2)) {
      place = &front_[--front_begin_];
      for (; place[1] < key; ++place) place[0] = place[1];
    } else {
      place = &front_[front_end_++];
      for (const Key* first = &in_front(0); place != first && key < place[-1]; --place)
        place[0] = place[-1];
    }
    *place = key;
    place_[slot_of(key)] = kInFront;
  }
  void put_far(Key key) {
    if (far_ == 0 || key <= base_) [[unlikely]]
      move_base();
    put_in_bucket(key);
  }
  void centre();
  void put_in_bucket(Key key);
  [[nodiscard]] std::uint32_t bucket_of(Key key) const;
  void remove(Slot slot);
  Key take_last(std::uint32_t bucket);
  void refill();
  void move_base();
  [[nodiscard]] Key lowest_key(std::uint32_t bucket) const;
  [[nodiscard]] std::uint32_t lowest_bucket() const;
  [[nodiscard]] std::uint32_t take_chunk(std::uint32_t before);
  std::uint32_t give_back_chunk(std::uint32_t chunk);

  std::array<Key, kRoom * kFront> front_{};  // from front_begin_ to before front_end_, ascending
  std::uint32_t front_begin_ = 0, front_end_ = 0;
  std::uint32_t far_ = 0;  // events in buckets
  Key base_ = 0;
  std::uint32_t used_digits_ = 0;  // bits: digits with a bucket that is not empty
  std::array<std::uint64_t, kDigits> used_values_{};  // bits: such buckets of a digit
  std::array<Bucket, kDigits * kValues> buckets_{};
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> chunk_before_;  // of each chunk, in its bucket; or next free
  std::uint32_t free_chunk_ = kNone;
  // Of each slot: kNone, kInFront, or chunk * kChunk + place in it.
  std::vector<std::uint32_t> place_;
};

}  // namespace cohort
