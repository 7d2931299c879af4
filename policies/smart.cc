#include "policies/smart.h"

#include <optional>
#include <string>

#include "policies/division.h"
#include "policies/errors.h"
#include "policies/group_buffer.h"
#include "policies/group_draft.h"
#include "policies/idle_set.h"
#include "policies/prefetch.h"
#include "policies/random_policy.h"

namespace cohort {
namespace {

std::optional<std::uint32_t> count_of(const Options& options, const std::string& name) {
  return options.maybe<std::int64_t>(name);
}

class Smart final : public Policy {
 public:
  Smart(const Options& options, const Topology& topology, std::uint64_t seed)
      : seed_(seed),
        divides_(options.get<bool>("division")),
        threshold_(count_of(options, "threshold")),
        requests_(topology.workers()),
        idle_(topology.workers()),
        // Each is in two groups at once; where the head of a node is missing, its seat stays empty.
        buffer_(topology.workers(), std::size_t{2} * topology.workers() + topology.nodes()),
        division_({.inter_intra = uses_inter_intra(options, topology),
                   .group_size = *count_of(options, "group_size"),
                   .head_group_size = count_of(options, "head_group_size"),
                   .vocabulary = divides_ ? count_of(options, "vocabulary") : std::nullopt},
                  topology, seed),
        draft_(*count_of(options, "group_size"),
               divides_ ? std::nullopt : count_of(options, "vocabulary"), topology.workers(),
               seed) {
    chosen_.reserve(topology.workers());
  }

  void step(const Event& event, Actions& out) override {
    switch (event.kind) {
      case EventKind::WorkerReady:
        request(event.worker, out);
        break;
      case EventKind::WorkerLeft:
      case EventKind::WorkerLost:
        idle_.erase(event.worker);
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
        return;
    }
    note_idle(out);
  }

  void expect(WorkerId worker, unsigned step) const override {
    buffer_.expect(worker, step);
    if (step > 0) return;
    prefetch(&requests_[index(worker)]);
    idle_.expect(worker);
  }
  void expect_end(SyncId sync, unsigned step) const override { buffer_.expect_end(sync, step); }

 private:
  void request(WorkerId worker, Actions& out) {
    const auto number = ++requests_[index(worker)];
    if (buffer_.empty(worker)) create_groups(worker, number);
    buffer_.ready(worker, out);
  }

  // Not inlined, here as elsewhere: rare beside its caller, which would save registers for it.
  [[gnu::noinline]] void create_groups(WorkerId worker, std::uint32_t number) {
    Stream stream(seed_, Purpose::Policy, index(worker), number);
    const auto at_least = threshold_ && number >= *threshold_ ? number + 1 - *threshold_ : 0;
    idle_.erase(worker);
    chosen_.assign(1, worker);
    idle_.append_at_least(at_least, chosen_);
    if (divides_) {
      for (const auto member : chosen_) idle_.erase(member);
      division_.create(stream, chosen_, buffer_);
    } else {
      const auto group = draft_.draw(stream, worker, chosen_, [&](WorkerId member) {
        return buffer_.present(member) && buffer_.empty(member) &&
               requests_[index(member)] >= at_least;
      });
      for (const auto member : group) idle_.erase(member);
      buffer_.create(group);
    }
  }

  // A FIFO can only have become empty at a release of its worker.
  void note_idle(const Actions& out) {
    for (const auto& action : out.all())
      if (action.kind == ActionKind::Release && buffer_.empty(action.worker))
        idle_.insert(action.worker, requests_[index(action.worker)]);
  }

  std::uint64_t seed_;
  bool divides_;
  std::optional<std::uint32_t> threshold_;
  std::vector<std::uint32_t> requests_;
  IdleSet idle_;
  GroupBuffer buffer_;
  Division division_;
  GroupDraft draft_;
  std::vector<WorkerId> chosen_;
};

std::unique_ptr<Policy> make_smart(const Options& options, const Topology& topology,
                                   std::uint64_t seed) {
  if (!options.get<bool>("group_buffer")) return make_random_policy(options, topology, seed);
  return std::make_unique<Smart>(options, topology, seed);
}

void check_smart(const Options& options, const Topology& topology) {
  check_group_size(options, topology);
  const bool divides = options.get<bool>("division") && options.get<bool>("group_buffer");
  if (!divides && options.maybe<bool>("inter_intra").value_or(false))
    throw InputError("/inter_intra",
                     "found true, but without division or group buffer there is nothing to divide "
                     "in two phases; allowed: "
                     "null or false, or both of them true");
  const auto heads = options.maybe<std::int64_t>("head_group_size");
  if (heads && *heads > topology.nodes())
    throw InputError("/head_group_size",
                     "found " + std::to_string(*heads) + ", but there are only " +
                         std::to_string(topology.nodes()) +
                         " nodes, with one head each; allowed: null, or 1 to the number of nodes");
}

std::vector<OptionSpec> option_table() {
  return {
      group_size_option(),
      {.name = "threshold",
       .type = OptionType::Count,
       .default_value = std::int64_t{4},
       .nullable = true,
       .description = "a worker that is this many requests behind the caller is not drafted; null: "
                      "off",
       .source = "[Luo 2020]; the value: SEMANTICS 2"},
      {.name = "inter_intra",
       .type = OptionType::Flag,
       .nullable = true,
       .description =
           "divide into an inter phase of one head a node and an intra phase; group_size "
           "is then unused; null: when there are several nodes, all with several workers",
       .source = "[Luo 2020]"},
      {.name = "head_group_size",
       .type = OptionType::Count,
       .nullable = true,
       .description = "heads in an inter group; null: all heads together",
       .source = "SEMANTICS 2"},
      {.name = "division",
       .type = OptionType::Flag,
       .default_value = true,
       .description = "divide all eligible idle workers; false: one random group of group_size of "
                      "them, with the caller",
       .source = "[Luo 2020]"},
      {.name = "group_buffer",
       .type = OptionType::Flag,
       .default_value = true,
       .description =
           "draft idle workers only; false: one random group of group_size of all workers",
       .source = "[Luo 2020]"},
      vocabulary_option(),
      timing_option(),
      order_option(),
      average_momentum_option(),
      endpoint_bandwidth_option(),
  };
}

}  // namespace

bool uses_inter_intra(const Options& options, const Topology& topology) {
  if (!options.get<bool>("division") || !options.get<bool>("group_buffer")) return false;
  if (const auto given = options.maybe<bool>("inter_intra")) return *given;
  for (std::uint32_t node = 0; node < topology.nodes(); ++node)
    if (topology.workers_on(node) < 2) return false;
  return topology.nodes() > 1;
}

PolicyEntry smart_entry() {
  return {.name = "smart",
          .where = Where::Central,
          .rule =
              "A request with an empty FIFO divides all idle workers that are not far behind "
              "into random groups, heads of nodes first, then whole nodes.",
          .source = "[Luo 2020]",
          .options = option_table(),
          .make = make_smart,
          .check = check_smart};
}

}  // namespace cohort
