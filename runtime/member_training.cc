#include "runtime/member_training.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policies/errors.h"

namespace cohort {
namespace {

// Entries of the model, or the payload that it is padded to; velocities come behind them.
std::size_t model_entries(const message::Prepare& prepare) {
  return prepare.training->average_momentum ? prepare.entries / 2 : prepare.entries;
}

// First and number of the model's parameters in the member's replica.
std::pair<std::size_t, std::size_t> part_of(const Replica& replica, std::size_t parameters) {
  const auto& prepare = replica.prepare();
  if (model_entries(prepare) < parameters)
    throw EnvironmentError("the spec that this rank reads has a model of " +
                           std::to_string(parameters) + " parameters; the run is for at most " +
                           std::to_string(model_entries(prepare)));
  if (!replica.is_server()) return {0, parameters};
  const auto servers = static_cast<std::uint32_t>(prepare.ranks.size()) - prepare.workers;
  const auto [first, count] =
      Replica::shard(prepare.entries, servers, prepare.member - prepare.workers);
  if (first >= parameters) return {0, 0};
  return {first, std::min(count, parameters - first)};
}

CurveCopies::Options copies_of(const Replica& replica) {
  const auto& terms = *replica.prepare().training;
  return {.steps_apart = terms.steps_apart,
          .time_apart = terms.time_apart,
          .worker_steps = replica.is_server() ? 1 : replica.prepare().workers};
}

}  // namespace

MemberTraining::MemberTraining(std::shared_ptr<const TrainingPlan> plan, Replica& replica)
    : plan_(std::move(plan)),
      task_(plan_->training, *plan_->dataset, replica.prepare().workers, replica.prepare().seed),
      trainer_(task_),
      threads_(task_, 1),
      first_(part_of(replica, trainer_.parameters()).first),
      held_(part_of(replica, trainer_.parameters()).second),
      copies_(copies_of(replica), replica.unit(), held_) {
  initialise(replica);
}

void MemberTraining::initialise(Replica& replica) {
  std::vector<float> initial(parameters());
  trainer_.initialise(initial);
  replica.unit().write(std::span(initial).subspan(first_, held_), replica.parameters.entries());
}

}  // namespace cohort
