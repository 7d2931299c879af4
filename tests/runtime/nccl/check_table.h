// The table that gpu_check prints, a row for each thing it looks at.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace cohort {

class CheckTable {
 public:
  explicit CheckTable(std::string ranks) : ranks_(std::move(ranks)) {}

  void row(const std::string& what, const std::string& found, const std::string& wanted,
           bool right) {
    fmt::print("| {} | {} | {} | {} | {} |\n", ranks_, what, found, wanted,
               right ? "met" : "MISSED");
    all_right_ = all_right_ && right;
  }
  [[nodiscard]] bool all_right() const { return all_right_; }

 private:
  std::string ranks_;
  bool all_right_ = true;
};

}  // namespace cohort
