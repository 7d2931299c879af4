#include "tests/policies/wrong_policies.h"

#include <array>
#include <optional>
#include <vector>

namespace cohort {
namespace {

// What the three have in common: pairs of ready workers that are released together at done.
class Pairs : public Policy {
 public:
  explicit Pairs(std::uint32_t workers) : ready_(workers) {}

  void step(const Event& event, Actions& out) final {
    if (event.kind == EventKind::WorkerReady) {
      ready_[index(event.worker)] = true;
      on_ready(index(event.worker), out);
    }
    if (event.kind != EventKind::SyncDone) return;
    for (const auto worker : pairs_[index(event.sync)]) {
      ready_[worker] = false;
      out.release(WorkerId{worker});
    }
  }

 protected:
  virtual void on_ready(std::uint32_t worker, Actions& out) = 0;

  void start(std::uint32_t a, std::uint32_t b, Actions& out) {
    out.start(SyncId{pairs_.size()}, SyncKind::GroupMean);
    for (const auto worker : {a, b}) out.add_member(WorkerId{worker}, Role::Blocking, 0.5);
    pairs_.push_back({a, b});
  }
  [[nodiscard]] bool ready(std::uint32_t worker) const { return ready_[worker]; }
  [[nodiscard]] std::uint32_t workers() const { return static_cast<std::uint32_t>(ready_.size()); }

 private:
  std::vector<bool> ready_;
  std::vector<std::array<std::uint32_t, 2>> pairs_;  // by id
};

class PairsInOwnOrder final : public Pairs {
 public:
  PairsInOwnOrder() : Pairs(3) {}

 private:
  void on_ready(std::uint32_t worker, Actions& out) override {
    const auto partner = next_partner(worker);
    if (!ready(partner) || next_partner(partner) != worker) return;
    ++synchronised_[worker];
    ++synchronised_[partner];
    start(worker, partner, out);
  }
  [[nodiscard]] std::uint32_t next_partner(std::uint32_t worker) const {
    return (worker + (synchronised_[worker] % 2 == 0 ? 1 : 2)) % 3;
  }
  std::array<std::uint32_t, 3> synchronised_{};
};

class PairsWithoutLocks final : public Pairs {
 public:
  using Pairs::Pairs;

 private:
  void on_ready(std::uint32_t worker, Actions& out) override {
    for (std::uint32_t other = 0; other < workers(); ++other)
      if (other != worker && ready(other)) return start(other, worker, out);
  }
};

class PairsForEver final : public Pairs {
 public:
  using Pairs::Pairs;

 private:
  void on_ready(std::uint32_t worker, Actions& out) override {
    if (!waiting_) {
      waiting_ = worker;
      return;
    }
    start(*waiting_, worker, out);
    waiting_.reset();
  }
  std::optional<std::uint32_t> waiting_;
};

}  // namespace

std::unique_ptr<Policy> pairs_in_own_order() { return std::make_unique<PairsInOwnOrder>(); }
std::unique_ptr<Policy> pairs_without_locks(std::uint32_t workers) {
  return std::make_unique<PairsWithoutLocks>(workers);
}
std::unique_ptr<Policy> pairs_for_ever(std::uint32_t workers) {
  return std::make_unique<PairsForEver>(workers);
}

}  // namespace cohort
