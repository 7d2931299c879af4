#include "experiments/tuning.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <tuple>

#include "policies/errors.h"

namespace cohort {
namespace {

constexpr std::uint64_t kPoints = 16;  // of the learning curve of a full run

// Smaller is better.
auto rank(const std::vector<Candidate>& candidates, std::size_t i) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto& candidate = candidates[i];
  return std::tuple(!candidate.loss, candidate.seconds_to_loss.value_or(kNever),
                    candidate.loss.value_or(kNever), i);
}

std::vector<Candidate> candidates_of(const TuneSpec& tune) {
  std::vector<Candidate> candidates;
  for (const double learning_rate : tune.learning_rates)
    for (const double momentum : tune.momenta)
      candidates.push_back({.rates = {learning_rate, momentum}});
  return candidates;
}

Candidate tried(const Scenario& scenario, const Rates& rates, const Tunings::Caller& caller) {
  Candidate result{.rates = rates, .worker_steps = *scenario.stop.total_steps};
  try {
    const auto learning =
        simulate_until(scenario, caller.stop, {.threads = caller.threads}).learning;
    const auto& last = learning.value().curve.back();
    result.loss = last.mean.loss;
    result.samples = last.samples;
    if (const auto target = scenario.training->measure.target_loss)
      result.seconds_to_loss = seconds_to_loss(learning->curve, *target);
  } catch (const InputError& error) {
    result.error = error.what();
  }
  return result;
}

}  // namespace

Scenario tuning_scenario(const Cell& cell, const PolicyChoice& policy, const Rates& rates,
                         std::uint64_t worker_steps) {
  auto scenario = cell.scenario(policy, kTuningSeed, rates);
  scenario.stop = {.total_steps = worker_steps};
  scenario.warmup_steps.reset();
  auto plan = std::make_shared<TrainingPlan>(*scenario.training);
  plan->measure.every = std::max<std::uint64_t>(1, cell.training.tune->budget / kPoints);
  plan->measure.replicas = false;
  plan->measure.losses_only = true;
  scenario.training = std::move(plan);
  return scenario;
}

// One search. Any number of threads help with it.
class Tunings::Search {
 public:
  Search(const Cell& cell, std::uint32_t policy)
      : cell_(cell), policy_(policy), candidates_(candidates_of(*cell.training.tune)) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) rung_.push_back(i);
    waiting_ = rung_;
  }

  // Until it is finished.
  std::shared_ptr<const Tuning> help(const Caller& caller) {
    std::unique_lock lock(mutex_);
    while (!result_) {
      if (waiting_.empty()) {
        changed_.wait(lock);
      } else {
        try_one(lock, caller);
      }
    }
    return result_;
  }

 private:
  void try_one(std::unique_lock<std::mutex>& lock, const Caller& caller) {
    const auto i = waiting_.back();
    waiting_.pop_back();
    ++running_;
    const auto scenario = tuning_scenario(cell_, cell_.policies[policy_], candidates_[i].rates,
                                          std::max<std::uint64_t>(1, steps()));
    lock.unlock();
    try {
      auto result = tried(scenario, candidates_[i].rates, caller);
      lock.lock();
      candidates_[i] = std::move(result);
    } catch (...) {
      lock.lock();
      waiting_.push_back(i);  // for the next to find out
      --running_;
      changed_.notify_all();
      throw;
    }
    --running_;
    if (waiting_.empty() && running_ == 0) finish_rung();
    changed_.notify_all();
  }

  [[nodiscard]] std::uint64_t steps() const { return cell_.training.tune->budget / share_; }

  void finish_rung() {
    std::ranges::sort(rung_, {}, [&](std::size_t i) { return rank(candidates_, i); });
    if (share_ > 1) rung_.resize((rung_.size() + 1) / 2);
    std::erase_if(rung_, [&](std::size_t i) { return !candidates_[i].loss; });
    if (share_ > 1 && rung_.size() > 1) {
      share_ /= 2;
      waiting_ = rung_;
      return;
    }
    Tuning tuning{.candidates = candidates_, .best = std::nullopt};
    if (!rung_.empty()) tuning.best = rung_.front();
    result_ = std::make_shared<const Tuning>(std::move(tuning));
  }

  const Cell cell_;
  const std::uint32_t policy_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::uint64_t share_ = 4;  // of the budget, that the runs of this rung take: 1/4, 1/2, 1
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> rung_;     // candidates still in the race
  std::vector<std::size_t> waiting_;  // of them, not tried on this rung yet
  std::size_t running_ = 0;
  std::shared_ptr<const Tuning> result_;
};

Tunings::Tunings() = default;
Tunings::~Tunings() = default;

std::shared_ptr<Tunings::Search> Tunings::search(const Cell& cell, std::uint32_t number,
                                                 std::uint32_t policy) {
  const std::scoped_lock lock(mutex_);
  auto& known = searches_[{number, policy}];
  if (!known) known = std::make_shared<Search>(cell, policy);
  return known;
}

RowScenario Tunings::scenario(const Cell& cell, std::uint32_t number, std::uint32_t policy,
                              std::uint64_t seed, const Caller& caller) {
  const auto& choice = cell.policies.at(policy);
  if (!cell.training.tune) return {cell.scenario(choice, seed)};
  const auto tuning = search(cell, number, policy)->help(caller);
  std::optional<Rates> rates;
  if (tuning->best) rates = tuning->candidates[*tuning->best].rates;
  return {cell.scenario(choice, seed, rates), tuning};
}

}  // namespace cohort
