// The workers with an empty FIFO, kept by the number of requests they have made, so that the ones a
// division may draft are found in time proportional to their number: laggards beyond the threshold
// are never looked at.
//
// The order depends on the sequence of calls alone. A worker's number of requests does not change
// while it is in the set. 8 bytes a worker plus one short bucket per different number of requests;
// no allocation once warm.
#pragma once

#include <cstdint>
#include <vector>

#include "policies/prefetch.h"
#include "policies/synchronisation.h"

namespace cohort {

class IdleSet {
 public:
  // Holds all `workers`, with no request made.
  explicit IdleSet(std::uint32_t workers);

  // `worker` must not be in the set; `requests`: how many it has made.
  void insert(WorkerId worker, std::uint32_t requests);
  // Does nothing when `worker` is not in the set.
  void erase(WorkerId worker);
  // Prefetches what erase and insert of `worker` need.
  void expect(WorkerId worker) const { prefetch(&links_[index(worker)]); }
  // Appends all workers that have made at least `requests` requests, those with the most first.
  void append_at_least(std::uint32_t requests, std::vector<WorkerId>& out) const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint32_t kAbsent = 0xfffffffe;
  static constexpr std::uint32_t kBucket =
      0x80000000;  // in Link::before: the first of bucket (before - kBucket)

  struct Link {
    std::uint32_t before = kAbsent;
    std::uint32_t after = kNone;
  };
  struct Bucket {
    std::uint32_t requests = 0;
    std::uint32_t first = kNone;
    std::uint32_t more = kNone;   // the next bucket with more requests; next free bucket
    std::uint32_t fewer = kNone;  // the next bucket with fewer
  };

  [[nodiscard]] std::uint32_t bucket_for(std::uint32_t requests);
  void drop(std::uint32_t bucket);

  std::vector<Link> links_;
  std::vector<Bucket> buckets_;
  std::uint32_t most_ = kNone;
  std::uint32_t free_ = kNone;
};

}  // namespace cohort
