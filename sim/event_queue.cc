#include "sim/event_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace cohort {

void EventQueue::reserve(std::uint32_t events) {
  constexpr std::size_t kNotFull = 3 * kValues;  // the last of each bucket in use, or more
  const std::size_t chunks = events / kChunk + kNotFull;
  chunks_.reserve(chunks);
  chunk_before_.reserve(chunks);
}

// Room for the front to grow on both sides.
void EventQueue::centre() {
  const auto size = front_size();
  const auto begin = static_cast<std::uint32_t>(front_.size() - size) / 2;
  std::memmove(front_.data() + begin, front_.data() + front_begin_, size * sizeof(Key));
  front_begin_ = begin;
  front_end_ = begin + size;
}

std::uint32_t EventQueue::bucket_of(Key key) const {
  const Key differing = key ^ base_;
  const auto high = static_cast<std::uint64_t>(differing >> 64);
  const auto low = static_cast<std::uint64_t>(differing);
  const auto bits =
      static_cast<std::uint32_t>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
  const auto digit = (bits - 1) / kDigitBits;
  return digit * kValues + static_cast<std::uint32_t>(key >> (digit * kDigitBits)) % kValues;
}

void EventQueue::put_in_bucket(Key key) {
  const auto number = bucket_of(key);
  Bucket& bucket = buckets_[number];
  const auto within = bucket.size++ % kChunk;
  if (within == 0) {
    bucket.chunk = take_chunk(bucket.chunk);
    used_values_[number / kValues] |= std::uint64_t{1} << (number % kValues);
    used_digits_ |= 1U << (number / kValues);
  }
  chunks_[bucket.chunk][within] = key;
  place_[slot_of(key)] = bucket.chunk * kChunk + within;
  ++far_;
}

void EventQueue::remove(Slot slot) {
  const auto place = std::exchange(place_[number(slot)], kNone);
  if (place == kInFront) {
    std::uint32_t i = 0;
    while (slot_of(in_front(i)) != number(slot)) ++i;
    --front_end_;
    for (; i < front_size(); ++i) in_front(i) = in_front(i + 1);
    refill();
  } else {
    const auto bucket = bucket_of(chunks_[place / kChunk][place % kChunk]);
    const Key last = take_last(bucket);
    if (slot_of(last) == number(slot)) return;
    chunks_[place / kChunk][place % kChunk] = last;
    place_[slot_of(last)] = place;
  }
}

EventQueue::Key EventQueue::take_last(std::uint32_t number) {
  Bucket& bucket = buckets_[number];
  const auto within = --bucket.size % kChunk;
  const Key last = chunks_[bucket.chunk][within];
  if (within == 0) bucket.chunk = give_back_chunk(bucket.chunk);
  if (bucket.size == 0) {
    auto& values = used_values_[number / kValues];
    values &= ~(std::uint64_t{1} << (number % kValues));
    if (values == 0) used_digits_ &= ~(1U << (number / kValues));
  }
  --far_;
  return last;
}

void EventQueue::refill() {
  while (front_size() < kInSight && far_ > 0) {
    const auto bucket = lowest_bucket();
    const bool few = buckets_[bucket].size <= kFew;
    if (!few) base_ = lowest_key(bucket);
    while (buckets_[bucket].size > 0) {
      const Key key = take_last(bucket);
      if (few || key == base_) {
        insert_in_front(key);
      } else {
        put_in_bucket(key);
      }
    }
  }
}

void EventQueue::move_base() {
  std::vector<Key> far;
  while (far_ > 0) far.push_back(take_last(lowest_bucket()));
  base_ = in_front(0);
  for (const Key key : far) put_in_bucket(key);
}

std::uint32_t EventQueue::lowest_bucket() const {
  const auto digit = static_cast<std::uint32_t>(std::countr_zero(used_digits_));
  return digit * kValues + static_cast<std::uint32_t>(std::countr_zero(used_values_[digit]));
}

EventQueue::Key EventQueue::lowest_key(std::uint32_t number) const {
  const Bucket& bucket = buckets_[number];
  Key lowest = chunks_[bucket.chunk].front();
  std::uint32_t keys = (bucket.size - 1) % kChunk + 1;
  for (auto chunk = bucket.chunk; chunk != kNone; chunk = chunk_before_[chunk]) {
    for (std::uint32_t i = 0; i < keys; ++i) lowest = std::min(lowest, chunks_[chunk][i]);
    keys = kChunk;
  }
  return lowest;
}

std::uint32_t EventQueue::take_chunk(std::uint32_t before) {
  if (free_chunk_ == kNone) {
    if (chunks_.size() == chunks_.capacity())
      reserve(static_cast<std::uint32_t>(chunks_.size() * kChunk * 5 / 4));
    free_chunk_ = static_cast<std::uint32_t>(chunks_.size());
    chunks_.emplace_back();
    chunk_before_.push_back(kNone);
  }
  const auto taken = free_chunk_;
  free_chunk_ = std::exchange(chunk_before_[taken], before);
  return taken;
}

// Returns the chunk before it.
std::uint32_t EventQueue::give_back_chunk(std::uint32_t chunk) {
  const auto before = std::exchange(chunk_before_[chunk], free_chunk_);
  free_chunk_ = chunk;
  return before;
}

}  // namespace cohort
