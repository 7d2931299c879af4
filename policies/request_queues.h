// Who asks whom for an exchange: one FIFO of requests per served worker, at most one outstanding
// request per asking worker.
//
// Intrusive lists, three words a worker. Ages strictly increase over all queues, so "oldest first"
// is defined across them. For ad-psgd.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cohort {

class RequestQueues {
 public:
  explicit RequestQueues(std::uint32_t workers) : requests_(workers), queues_(workers) {}

  // `asker` has no outstanding request.
  void push(std::uint32_t asker, std::uint32_t target) {
    auto& queue = queues_[target];
    requests_[asker] = {next_age_++, target, queue.last, kNone, true};
    (queue.last == kNone ? queue.first : requests_[queue.last].next) = asker;
    queue.last = asker;
  }
  // `asker` has an outstanding request.
  void remove(std::uint32_t asker) {
    const auto request = requests_[asker];
    auto& queue = queues_[request.target];
    (request.previous == kNone ? queue.first : requests_[request.previous].next) = request.next;
    (request.next == kNone ? queue.last : requests_[request.next].previous) = request.previous;
    requests_[asker] = {};
  }

  [[nodiscard]] bool outstanding(std::uint32_t asker) const { return requests_[asker].outstanding; }
  [[nodiscard]] std::uint32_t target(std::uint32_t asker) const { return requests_[asker].target; }
  [[nodiscard]] std::uint64_t age(std::uint32_t asker) const { return requests_[asker].age; }
  [[nodiscard]] std::uint64_t next_age() const { return next_age_; }
  // The asker at the head of the queue at `target`, and the one behind `asker`.
  [[nodiscard]] std::optional<std::uint32_t> first(std::uint32_t target) const {
    return some(queues_[target].first);
  }
  [[nodiscard]] std::optional<std::uint32_t> behind(std::uint32_t asker) const {
    return some(requests_[asker].next);
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Request {
    std::uint64_t age = 0;
    std::uint32_t target = kNone;
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
    bool outstanding = false;
  };
  struct Queue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  [[nodiscard]] static std::optional<std::uint32_t> some(std::uint32_t asker) {
    return asker == kNone ? std::nullopt : std::optional(asker);
  }

  std::vector<Request> requests_;
  std::vector<Queue> queues_;
  std::uint64_t next_age_ = 0;
};

}  // namespace cohort
