// Every policy must train: an MLP 784-256-10 on Fashion-MNIST, 16 workers, batch 32 each, ten
// epochs of samples all together, in virtual time. Bar: 85 % test accuracy of the mean model.
//
// usage: policy_accuracy [POLICY...]
// One line per policy: accuracy, loss, consensus distance, staleness, seconds it took. Exit codes:
// 0 bar met; 1 missed; 77 no Fashion-MNIST (Debian: dataset-fashion-mnist).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "policies/registry.h"
#include "sim/scenario.h"
#include "training/dataset.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

constexpr double kBar = 0.85;
constexpr std::uint32_t kWorkers = 16, kBatch = 32;

Scenario scenario_of(const PolicyEntry& policy, const std::shared_ptr<const Dataset>& set) {
  Scenario scenario;
  scenario.cluster.gpus_per_node.assign(4, 4);
  scenario.cluster.nic_bandwidth.assign(4, 7e9);
  scenario.cluster.nic_latency.assign(4, 5us);
  scenario.cluster.fabric_bandwidth = 10e9;
  scenario.workload.compute = 10ms;
  scenario.workload.payload = 814e3;
  scenario.stragglers = {{.model = Lognormal{.sigma = 0.02}},
                         {.model = Bernoulli{.probability = 1.0 / kWorkers, .factor = 5}}};
  scenario.policy = &policy;
  scenario.options = resolve(policy, {});
  scenario.stop.total_steps = 10 * set->training.size() / kBatch;
  scenario.training = std::make_shared<const TrainingPlan>(
      TrainingPlan{.training = {.model = MlpOptions{{256}}, .batch = kBatch},
                   .dataset = set,
                   .measure = {.every = std::uint64_t{1'000'000}}});
  return scenario;
}

bool reaches_bar(const PolicyEntry& policy, const std::shared_ptr<const Dataset>& set) {
  const auto begin = std::chrono::steady_clock::now();
  const auto row =
      simulate(scenario_of(policy, set), {.threads = std::thread::hardware_concurrency()});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto& last = row.learning->curve.back();
  fmt::print("{:18} accuracy {:.4f}  loss {:.4f}  consensus {:.3f}  staleness {:.2f}  {:.1f} s\n",
             policy.name, *last.mean.accuracy, last.mean.loss, last.consensus_distance,
             row.learning->effective_staleness.value_or(0), took.count());
  return *last.mean.accuracy >= kBar;
}

int run(const std::vector<std::string>& names) {
  if (!std::filesystem::exists(FashionMnist{}.folder)) {
    fmt::print("no Fashion-MNIST; apt-get install dataset-fashion-mnist\n");
    return 77;
  }
  const auto set = std::make_shared<const Dataset>(load_dataset(FashionMnist{}));
  bool all = true;
  for (const auto& policy : all_policies())
    if (names.empty() || std::ranges::count(names, policy.name) > 0)
      all = reaches_bar(policy, set) && all;
  return all ? 0 : 1;
}

}  // namespace
}  // namespace cohort

int main(int count, char** words) {
  return cohort::run(std::vector<std::string>(words + 1, words + count));
}
