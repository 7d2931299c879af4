// Map from the id of a live synchronisation (or timer) to a small value: open addressing, linear
// probing, no allocation once warm.
//
// Live ids are often a run of consecutive numbers; multiplicative hashing ([Knuth 1973], 6.4)
// spreads such a run evenly, so that no long cluster has to be walked at an erase. For policies,
// CheckedPolicy and both drivers.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "policies/prefetch.h"
#include "policies/synchronisation.h"

namespace cohort {

template <typename Value, typename Id = SyncId>
class SyncTable {
 public:
  SyncTable() : cells_(16), most_(most(16)) {}

  // `id` must not be in the table.
  void insert(Id id, Value value) {
    if (size_ == most_) grow();
    place({index(id) + 1, std::move(value)});
    ++size_;
    expect(Id{index(id) + 1});  // probably the next to be inserted
  }
  // Prefetches what find, take and erase need.
  void expect(Id id) const { prefetch(&cells_[home(index(id) + 1)]); }
  // Null when absent. Valid until the next insert or erase.
  [[nodiscard]] const Value* find(Id id) const {
    const auto place = place_of(id);
    return place ? &cells_[*place].value : nullptr;
  }
  // Erases it and returns its value; empty when absent.
  std::optional<Value> take(Id id) {
    const auto place = place_of(id);
    if (!place) return std::nullopt;
    std::optional<Value> taken(std::move(cells_[*place].value));
    vacate(*place);
    return taken;
  }
  void erase(Id id) {
    if (const auto place = place_of(id)) vacate(*place);
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Cell {
    std::uint64_t key = 0;  // id + 1; 0 is empty
    Value value{};
  };
  [[nodiscard]] std::optional<std::size_t> place_of(Id id) const {
    for (std::size_t i = home(index(id) + 1);; i = next(i)) {
      if (cells_[i].key == index(id) + 1) return i;
      if (cells_[i].key == 0) return std::nullopt;
    }
  }
  void vacate(std::size_t hole) {
    for (std::size_t i = next(hole); cells_[i].key != 0; i = next(i)) {  // backward shift
      if (((i - home(cells_[i].key)) & mask()) >= ((i - hole) & mask())) {
        cells_[hole] = std::move(cells_[i]);
        hole = i;
      }
    }
    cells_[hole] = {};
    --size_;
  }
  [[nodiscard]] static std::size_t most(std::size_t cells) { return cells * 4 / 5; }
  [[nodiscard]] std::size_t mask() const { return cells_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
  [[nodiscard]] std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_);
  }
  void place(Cell cell) {
    std::size_t i = home(cell.key);
    while (cells_[i].key != 0) i = next(i);
    cells_[i] = std::move(cell);
  }
  [[gnu::noinline]] void grow() {
    std::vector<Cell> old(2 * cells_.size());
    old.swap(cells_);
    --shift_;
    most_ = most(cells_.size());
    for (auto& cell : old)
      if (cell.key != 0) place(std::move(cell));
  }

  std::vector<Cell> cells_;
  std::size_t size_ = 0;
  std::size_t most_;     // size at which the table grows
  unsigned shift_ = 60;  // 64 - log2 of the number of cells
};

}  // namespace cohort
