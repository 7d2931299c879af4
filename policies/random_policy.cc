#include "policies/random_policy.h"

#include <algorithm>
#include <string>

#include "policies/errors.h"
#include "policies/group_buffer.h"
#include "policies/group_draft.h"

namespace cohort {
namespace {

constexpr std::int64_t kDefaultGroupSize = 4;

class RandomPolicy final : public Policy {
 public:
  RandomPolicy(const Options& options, const Topology& topology, std::uint64_t seed)
      : seed_(seed),
        buffer_(topology.workers()),
        draft_(static_cast<std::uint32_t>(options.get<std::int64_t>("group_size")),
               options.maybe<std::int64_t>("vocabulary"), topology.workers(), seed),
        requests_(topology.workers()) {
    for (std::uint32_t w = 0; w < topology.workers(); ++w) present_.push_back(WorkerId{w});
  }

  void step(const Event& event, Actions& out) override {
    switch (event.kind) {
      case EventKind::WorkerReady:
        request(event.worker, out);
        break;
      case EventKind::WorkerLeft:
      case EventKind::WorkerLost:
        std::erase(present_, event.worker);
        buffer_.remove(event.worker, out);
        break;
      case EventKind::SyncDone:
        buffer_.done(event.sync, out);
        break;
      case EventKind::SyncFailed:
        buffer_.failed(event.sync, out);
        break;
      case EventKind::WorkerJoined:
      case EventKind::TimerFired:
        break;
    }
  }

 private:
  void request(WorkerId worker, Actions& out) {
    const auto number = ++requests_[index(worker)];
    if (buffer_.empty(worker)) {
      Stream stream(seed_, Purpose::Policy, index(worker), number);
      buffer_.create(draft_.draw(stream, worker, present_,
                                 [this](WorkerId member) { return buffer_.present(member); }));
    }
    buffer_.ready(worker, out);
  }

  std::uint64_t seed_;
  GroupBuffer buffer_;
  GroupDraft draft_;
  std::vector<std::uint32_t> requests_;
  std::vector<WorkerId> present_;  // ascending
};

}  // namespace

std::unique_ptr<Policy> make_random_policy(const Options& options, const Topology& topology,
                                           std::uint64_t seed) {
  return std::make_unique<RandomPolicy>(options, topology, seed);
}

OptionSpec group_size_option() {
  return {.name = "group_size",
          .type = OptionType::Count,
          .default_value = kDefaultGroupSize,
          .description = "workers in a group",
          .source = "[Luo 2020]"};
}

void check_group_size(const Options& options, const Topology& topology) {
  const auto size = options.get<std::int64_t>("group_size");
  if (size > std::max<std::int64_t>(topology.workers(), kDefaultGroupSize))
    throw InputError("/group_size", "found " + std::to_string(size) + ", but there are only " +
                                        std::to_string(topology.workers()) +
                                        " workers; allowed: 1 to the number of workers");
}

PolicyEntry random_entry() {
  return {.name = "random",
          .where = Where::Central,
          .rule =
              "A request with an empty FIFO makes one random group with the caller; groups "
              "overlap and run in creation order.",
          .source = "ablation of [Luo 2020]",
          .options = {group_size_option(), vocabulary_option(), timing_option(), order_option(),
                      average_momentum_option(), endpoint_bandwidth_option()},
          .make = make_random_policy,
          .check = check_group_size};
}

}  // namespace cohort
