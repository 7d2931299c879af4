// Rows of numbers, all of one length, shared by counting who holds them: replicas, snapshots,
// gradients.
//
// A copy of a replica (a snapshot, what neighbours read, what a gradient is taken at) holds the
// same row; who wants to change a row that others hold too writes a new one instead. A row that
// nobody holds is kept for the next one who asks, the last first, because it is still in the cache.
// Several rows lie in one piece of memory, on huge pages where the system has them. One thread
// takes, holds and drops rows; others may use the numbers of a row that it holds for them. The pool
// outlives its rows.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace cohort {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using RowMemory = std::unique_ptr<void, FreeMemory>;

// At a cache line's beginning. Throws std::bad_alloc.
[[nodiscard]] RowMemory row_memory(std::size_t bytes);

template <typename T>
class RowPool;

template <typename T>
class RowNumbers {
 public:
  RowNumbers(std::span<T> numbers, RowPool<T>& pool) : numbers_(numbers), pool_(pool) {}

  [[nodiscard]] std::span<const T> numbers() const { return numbers_; }
  // For the only holder.
  [[nodiscard]] std::span<T> writable() { return numbers_; }
  [[nodiscard]] bool shared() const { return holders_ > 1; }

  friend void intrusive_ptr_add_ref(RowNumbers* row) { ++row->holders_; }
  friend void intrusive_ptr_release(RowNumbers* row) { row->drop(); }

 private:
  void drop() {
    if (--holders_ == 0) pool_.free_.push_back(this);
  }

  std::span<T> numbers_;
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
    if (free_.empty()) grow();
    const Row<T> row(free_.back());
    free_.pop_back();
    return row;
  }
  // Where to write what replaces `row`: the same one, unless others hold it too.
  [[nodiscard]] Row<T> successor(const Row<T>& row) { return row->shared() ? take() : row; }

 private:
  friend class RowNumbers<T>;

  void grow() {
    constexpr std::size_t kRows = 8;
    constexpr std::size_t kLine = 64 / sizeof(T);
    // A line between rows, so that those of a power of two do not compete for the same places of
    // the cache.
    const std::size_t stride = (length_ / kLine + 2) * kLine;
    auto* numbers =
        static_cast<T*>(pieces_.emplace_back(row_memory(kRows * stride * sizeof(T))).get());
    for (std::size_t i = kRows; i-- > 0;)
      free_.push_back(&rows_.emplace_back(std::span(numbers + i * stride, length_), *this));
  }

  std::size_t length_;
  std::vector<RowMemory> pieces_;
  std::deque<RowNumbers<T>> rows_;
  std::vector<RowNumbers<T>*> free_;
};

}  // namespace cohort
