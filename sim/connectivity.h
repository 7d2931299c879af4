// Does every window of 50 steps mix all workers? Union-find over the members of the
// synchronisations done in the window.
//
// A window ends when the slowest live worker has done another 50 steps. Policies whose groups never
// join two halves of the workers train two models; the result row says so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/packed_member.h"

namespace cohort {

class Connectivity {
 public:
  static constexpr std::uint64_t kWindow = 50;

  // `members`: workers and servers.
  explicit Connectivity(std::uint32_t members);

  void join(std::span<const PackedMember> members) {
    if (parts_ > 1) unite(members);
  }
  // The slowest live worker has done `steps` steps.
  void reached(std::uint64_t steps) {
    if (steps >= window_end_) end_window(steps);
  }
  // A worker ended: windows are no longer comparable, so none is judged from here on.
  void stop() { window_end_ = UINT64_MAX; }

  // Empty when no window was complete.
  [[nodiscard]] std::optional<bool> connected() const { return connected_; }

 private:
  void unite(std::span<const PackedMember> members);
  void end_window(std::uint64_t steps);
  [[nodiscard]] std::uint32_t root(std::uint32_t member);

  std::vector<std::uint32_t> parent_;
  std::uint32_t parts_;
  std::uint64_t window_end_ = kWindow;
  std::optional<bool> connected_;
};

}  // namespace cohort
