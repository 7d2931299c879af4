// Rows of numbers, all of one length, shared by counting who holds them: replicas, snapshots,
// gradients.
//
// A copy of a replica (a snapshot, what neighbours read, what a gradient is taken at) holds the
// same row; who wants to change a row that others hold too writes a new one instead. A row that
// nobody holds is kept for the next one who asks, the last first, because it is still in the cache.
// One thread takes, holds and drops rows; others may use the numbers of a row that it holds for
// them. The pool outlives its rows.
#pragma once

#include <boost/align/aligned_allocator.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace cohort {

template <typename T>
class RowPool;

template <typename T>
class RowNumbers {
 public:
  RowNumbers(std::size_t length, RowPool<T>& pool) : numbers_(length), pool_(pool) {}

  [[nodiscard]] std::span<const T> numbers() const { return numbers_; }
  // For the only holder.
  [[nodiscard]] std::span<T> writable() { return numbers_; }
  [[nodiscard]] bool shared() const { return holders_ > 1; }

  friend void intrusive_ptr_add_ref(RowNumbers* row) { ++row->holders_; }
  friend void intrusive_ptr_release(RowNumbers* row) { row->drop(); }

 private:
  static constexpr std::size_t kCacheLine = 64;

  void drop() {
    if (--holders_ == 0) pool_.free_.push_back(this);
  }

  std::vector<T, boost::alignment::aligned_allocator<T, kCacheLine>> numbers_;
  RowPool<T>& pool_;
  std::uint32_t holders_ = 0;
};

template <typename T>
using Row = boost::intrusive_ptr<RowNumbers<T>>;

template <typename T>
class RowPool {
 public:
  explicit RowPool(std::size_t length) : length_(length) {}
  RowPool(const RowPool&) = delete;
  RowPool& operator=(const RowPool&) = delete;

  [[nodiscard]] std::size_t length() const { return length_; }

  // Its numbers are anything.
  [[nodiscard]] Row<T> take() {
    if (free_.empty()) return Row<T>(&rows_.emplace_back(length_, *this));
    const Row<T> row(free_.back());
    free_.pop_back();
    return row;
  }
  // Where to write what replaces `row`: the same one, unless others hold it too.
  [[nodiscard]] Row<T> successor(const Row<T>& row) { return row->shared() ? take() : row; }

 private:
  friend class RowNumbers<T>;

  std::size_t length_;
  std::deque<RowNumbers<T>> rows_;
  std::vector<RowNumbers<T>*> free_;
};

}  // namespace cohort
