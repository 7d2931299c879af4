#include "experiments/read_run.h"

#include <fmt/format.h>

#include <cstdint>

#include "experiments/cell.h"
#include "policies/errors.h"
#include "traces/units.h"

namespace cohort {
namespace {

[[noreturn]] void refuse_policy(std::size_t number, const std::string& what) {
  throw InputError(fmt::format("/policies/{}", number), what);
}

void check_policy(const PolicyChoice& choice, std::size_t number) {
  const auto& options = choice.options;
  if (options.has("overlap") && options.get<bool>("overlap"))
    refuse_policy(number, "overlap is simulated only: a real run has no gradients in buckets");
  if (options.has("endpoint_bandwidth") && options.maybe<double>("endpoint_bandwidth"))
    refuse_policy(number,
                  "endpoint_bandwidth is simulated only: a real run moves what its transport can");
}

void check_training(const Cell& cell) {
  if (cell.training.tune)
    throw InputError("/measure/tune",
                     "is simulated only; allowed in a real run: the learning_rate and momentum "
                     "that a simulation chose, in workload.training");
  const auto bytes = static_cast<double>(sizeof(float) * cell.training.parameters);
  if (cell.workload.payload < bytes)
    throw InputError("/workload/payload",
                     fmt::format("found {}; allowed in a real run with training: the model's {}, "
                                 "or more",
                                 format_bytes(cell.workload.payload), format_bytes(bytes)));
}

}  // namespace

RunSpec read_run(const SpecNode& node) {
  constexpr Time kLongestStart = std::chrono::hours(1);
  node.only_keys({"listen", "backend", "on_loss", "start_limit", "nodes"});
  RunSpec run;
  if (const auto listen = node.find("listen")) run.listen = listen->name();
  if (const auto backend = node.find("backend"))
    run.backend = BackendKind(backend->choice({"mpi", "nccl"}));
  if (const auto on_loss = node.find("on_loss"))
    run.on_loss = OnLoss(on_loss->choice({"fail", "continue"}));
  if (const auto limit = node.find("start_limit"))
    run.start_limit = limit->positive_time(kLongestStart);
  if (const auto nodes = node.find("nodes")) run.nodes = NodesOf(nodes->choice({"hosts", "spec"}));
  return run;
}

void check_runnable(const Cell& cell) {
  constexpr double kMostBytes = 4.0 * INT32_MAX;  // counts of fp32 entries in MPI and NCCL
  for (std::size_t i = 0; i < cell.policies.size(); ++i) check_policy(cell.policies[i], i);
  if (cell.training.plan) check_training(cell);
  if (cell.training.tune)
    throw InputError("/measure/tune",
                     "is simulated only: a real run trains at the spec's own rates; allowed there: "
                     "learning_rate and momentum, such as a simulation of this spec found");
  if (cell.stop.loss)
    throw InputError("/stop/loss",
                     "is simulated only: a real run evaluates the loss when it is over, so as to "
                     "disturb nothing; allowed: steps_per_worker, total_steps, seconds");
  if (!cell.link_stragglers.empty())
    throw InputError("/stragglers",
                     "slow links are simulated only: a real run has the links that "
                     "it has");
  const double payload = cell.workload.payload;
  if (payload < 4 || payload > kMostBytes)
    throw InputError("/workload/payload",
                     fmt::format("found {}; allowed in a real run: 4 B to {}",
                                 format_bytes(payload), format_bytes(kMostBytes)));
}

}  // namespace cohort
