// Lexicographic max-min fair rates of activities that share links. Knows no simulator type and no time.
//
//   maximise lexicographically the sorted rates r(a) subject to, for every link l,
//       sum over active a of w(a,l) * r(a) <= capacity(l),
// by progressive filling: all unfixed rates of a component rise together until a link saturates; its activities are fixed. A change
// re-solves only the connected component (activities joined by links) that it touches. No allocation once warm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cohort {

enum class LinkIndex : std::uint32_t {};
enum class ActivityIndex : std::uint32_t {};

struct Load {
  LinkIndex link{};
  double weight = 0;  // how often the activity crosses the link, > 0; a link at most once per activity
};

class FairShare {
 public:
  // Capacity in bytes per second, > 0.
  LinkIndex add_link(double capacity);
  void set_capacity(LinkIndex link, double capacity);
  [[nodiscard]] double capacity(LinkIndex link) const;

  // At least one load. Indices of removed activities are reused.
  ActivityIndex add(std::span<const Load> loads);
  void remove(ActivityIndex activity);

  // Solves what add, remove and set_capacity have touched since the last call. Returns the activities whose rate changed (an
  // added one always counts), in an order that depends on the calls alone. Valid until the next call.
  std::span<const ActivityIndex> solve();
  [[nodiscard]] double rate(ActivityIndex activity) const;  // bytes per second, after solve()

  // implementation-defined private part
};

}  // namespace cohort
