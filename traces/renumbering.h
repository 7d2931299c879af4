// The distinct numbers of workers, steps or the like in a recording, and their dense ones: the
// place of a number in their order is its new number.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

class Renumbering {
 public:
  void add(std::uint64_t number) {
    if (numbers_.empty() || numbers_.back() != number) numbers_.push_back(number);
  }
  // After the last add() and before the rest.
  void close() {
    std::ranges::sort(numbers_);
    numbers_.erase(std::ranges::unique(numbers_).begin(), numbers_.end());
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t number) const {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(numbers_, number) -
                                      numbers_.begin());
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  // For the user; empty when the numbers were dense from 0.
  [[nodiscard]] std::optional<std::string> note(std::string_view what) const {
    if (numbers_.empty() || numbers_.back() == numbers_.size() - 1) return std::nullopt;
    const bool gaps = numbers_.back() - numbers_.front() != numbers_.size() - 1;
    return fmt::format("{}: {} number{} from {} to {}{}, renumbered 0 to {}", what, numbers_.size(),
                       numbers_.size() == 1 ? "" : "s", numbers_.front(), numbers_.back(),
                       gaps ? " with gaps" : "", numbers_.size() - 1);
  }

 private:
  std::vector<std::uint64_t> numbers_;
};

}  // namespace cohort
