// The axes of a sweep: which values of the spec vary, and together with which.
//
//   {"/a": [1, 2], "/b": [3, 4]}            all combinations: 4 cells
//   [{"/a": [1, 2], "/b": [3, 4]}, {...}]   lists inside one object vary together (2 cells),
//   objects are combined
// Cells are numbered with the last axis varying fastest; the axes of an object stand in the order
// of their pointers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/setting.h"
#include "experiments/spec_node.h"

namespace cohort {

class SweepAxes {
 public:
  static constexpr std::uint64_t kMostCells = 1'000'000;

  // No axes: one cell without settings.
  SweepAxes() = default;
  // Throws InputError with the JSON pointer of what is wrong.
  explicit SweepAxes(const SpecNode& sweep);

  [[nodiscard]] std::uint64_t cells() const { return cells_; }
  [[nodiscard]] const std::vector<std::string>& pointers() const { return pointers_; }
  // One per pointer, in their order.
  [[nodiscard]] std::vector<Setting> settings(std::uint64_t cell) const;

 private:
  struct Axis {
    std::vector<std::string> pointers;
    std::vector<std::vector<Json>> points;  // each: one value per pointer
  };
  static Axis read_axis(const SpecNode& node);
  void add(const SpecNode& node, Axis axis);

  std::vector<Axis> axes_;
  std::vector<std::string> pointers_;
  std::uint64_t cells_ = 1;
};

}  // namespace cohort
