#include "policies/idle_set.h"

namespace cohort {

IdleSet::IdleSet(std::uint32_t workers) : links_(workers) {
  for (std::uint32_t w = workers; w-- > 0;) insert(WorkerId{w}, 0);
}

void IdleSet::insert(WorkerId worker, std::uint32_t requests) {
  const auto w = index(worker);
  const auto bucket = bucket_for(requests);
  const auto after = buckets_[bucket].first;
  links_[w] = {kBucket + bucket, after};
  if (after != kNone) links_[after].before = w;
  buckets_[bucket].first = w;
}

void IdleSet::erase(WorkerId worker) {
  auto& link = links_[index(worker)];
  if (link.before == kAbsent) return;
  if (link.after != kNone) links_[link.after].before = link.before;
  if (link.before < kBucket) {
    links_[link.before].after = link.after;
  } else {
    const auto bucket = link.before - kBucket;
    buckets_[bucket].first = link.after;
    if (link.after == kNone) drop(bucket);
  }
  link.before = kAbsent;
}

void IdleSet::append_at_least(std::uint32_t requests, std::vector<WorkerId>& out) const {
  for (auto b = most_; b != kNone && buckets_[b].requests >= requests; b = buckets_[b].fewer)
    for (auto w = buckets_[b].first; w != kNone; w = links_[w].after) out.push_back(WorkerId{w});
}

// Finds or makes the bucket; buckets with more requests are few, because workers keep close.
std::uint32_t IdleSet::bucket_for(std::uint32_t requests) {
  auto more = kNone;
  auto here = most_;
  while (here != kNone && buckets_[here].requests > requests) {
    more = here;
    here = buckets_[here].fewer;
  }
  if (here != kNone && buckets_[here].requests == requests) return here;
  auto made = free_;
  if (made == kNone) {
    made = static_cast<std::uint32_t>(buckets_.size());
    buckets_.emplace_back();
  } else {
    free_ = buckets_[made].more;
  }
  buckets_[made] = {requests, kNone, more, here};
  (more == kNone ? most_ : buckets_[more].fewer) = made;
  if (here != kNone) buckets_[here].more = made;
  return made;
}

void IdleSet::drop(std::uint32_t bucket) {
  const auto [requests, first, more, fewer] = buckets_[bucket];
  (more == kNone ? most_ : buckets_[more].fewer) = fewer;
  if (fewer != kNone) buckets_[fewer].more = more;
  buckets_[bucket].more = free_;
  free_ = bucket;
}

}  // namespace cohort
