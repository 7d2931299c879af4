#include "runtime/learning_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "policies/errors.h"
#include "runtime/codec.h"

namespace cohort {
namespace {

class CurveMaker {
 public:
  CurveMaker(const RunSetup& setup, Time origin,
             std::span<const std::optional<message::Learned>> members)
      : setup_(setup), origin_(origin), members_(members) {
    for (std::uint32_t member = 0; member < members.size(); ++member) {
      if (!members[member]) continue;
      const bool server = member >= setup.topology.workers();
      const auto* curve = &members[member]->curve;
      all_.push_back(curve);
      if (!server) workers_.push_back(curve);
      if (server == (setup.topology.servers() > 0)) holders_.push_back(curve);
      if (member == 0) first_ = curve;
    }
    points_ = all_.front()->size();
    const auto differs = [this](const Curve* curve) { return curve->size() != points_; };
    if (points_ < 2 || holders_.empty() || workers_.empty() || std::ranges::any_of(all_, differs))
      throw FrameError("learning curves that do not fit together");
  }

  // The first point is before the first step, and the last one at the run's end; what a worker
  // copied later, before it heard of the end, is no point.
  [[nodiscard]] std::vector<LearningPoint> make(Time end) const {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < points_; ++i) {
      if (i > 1 && !went_on(i)) kept.pop_back();
      kept.push_back(i);
    }
    std::vector<LearningPoint> curve;
    const double end_seconds = std::chrono::duration<double>(end).count();
    for (const auto i : kept) {
      LearningPoint next = point(i);
      if (i == kept.front()) next.seconds = 0;
      if (i == kept.back())
        next.seconds = end_seconds;
      else if (next.seconds >= end_seconds)
        continue;
      check_finite(i, next);
      curve.push_back(std::move(next));
    }
    return curve;
  }

 private:
  using Curve = std::vector<CurvePart>;

  // Several points may lie within one step, and the last one before the end at the end.
  [[nodiscard]] bool went_on(std::size_t i) const {
    return std::ranges::any_of(
        holders_, [i](const Curve* curve) { return (*curve)[i].steps != (*curve)[i - 1].steps; });
  }

  [[nodiscard]] LearningPoint point(std::size_t i) const {
    LearningPoint point;
    Time at{};
    std::uint64_t steps = 0;
    for (const auto* curve : holders_) {
      const auto& part = (*curve)[i];
      at = std::max(at, part.at - origin_);
      steps = setup_.topology.servers() > 0 ? std::max(steps, part.steps) : steps + part.steps;
    }
    point.seconds = std::chrono::duration<double>(at).count();
    point.samples = steps * setup_.training->training.batch;
    point.mean = mean(i);
    add_replicas(i, point);
    return point;
  }

  [[nodiscard]] Score mean(std::size_t i) const {
    for (const auto* curve : all_)
      if ((*curve)[i].mean) return *(*curve)[i].mean;
    throw FrameError("a point of the learning curve that nobody evaluated");
  }

  void add_replicas(std::size_t i, LearningPoint& point) const {
    double squares = 0;
    for (const auto* curve : workers_) {
      const auto& [at, steps, squared_distance, own, mean] = (*curve)[i];
      squares += squared_distance;
      if (own && (!point.worst || own->loss > point.worst->loss)) point.worst = own;
    }
    point.consensus_distance = std::sqrt(squares / static_cast<double>(workers_.size()));
    if (first_ != nullptr) point.replica = (*first_)[i].own;
  }

  // Names the worker that was furthest, as the place to look at.
  void check_finite(std::size_t i, const LearningPoint& point) const {
    if (std::isfinite(point.mean.loss)) return;
    std::uint32_t furthest = 0;
    std::uint64_t most = 0;
    for (std::uint32_t worker = 0; worker < setup_.topology.workers(); ++worker) {
      const auto steps = members_[worker] ? members_[worker]->curve[i].steps : 0;
      if (steps > most) std::tie(furthest, most) = std::pair(worker, steps);
    }
    const auto place =
        most == 0 ? std::string("before the first step")
                  : fmt::format("when worker {}, step {}, was furthest", furthest, most - 1);
    throw InputError(
        "/workload/training",
        fmt::format("training diverged: after {} samples, {}, the loss of the mean model is {}; "
                    "allowed: a finite one, which a smaller learning rate than {} may give",
                    point.samples, place, std::abs(point.mean.loss),
                    setup_.training->training.sgd.learning_rate));
  }

  const RunSetup& setup_;
  Time origin_;
  std::span<const std::optional<message::Learned>> members_;
  std::vector<const Curve*> all_, workers_;
  std::vector<const Curve*> holders_;  // of the model: workers, or servers
  const Curve* first_ = nullptr;       // worker 0's, unless it was lost
  std::size_t points_ = 0;
};

std::vector<std::uint64_t> samples_per_worker(const RunSetup& setup, const RunRecord& record) {
  std::vector<std::uint64_t> samples(setup.topology.workers());
  for (const auto& step : record.steps)
    samples[index(step.worker)] += setup.training->training.batch;
  return samples;
}

// Servers of one run have all seen the same gradients.
std::optional<double> staleness(std::span<const std::optional<message::Learned>> members) {
  std::uint64_t gradients = 0;
  std::uint64_t changes = 0;
  for (const auto& member : members) {
    if (!member) continue;
    gradients += member->gradients;
    changes += member->changes;
  }
  if (gradients == 0) return std::nullopt;
  return static_cast<double>(changes) / static_cast<double>(gradients);
}

}  // namespace

Learning learning_of(const RunSetup& setup, const RunRecord& record, Time origin,
                     std::span<const std::optional<message::Learned>> members) {
  Learning learning;
  learning.learning_rate = setup.training->training.sgd.learning_rate;
  learning.momentum = setup.training->training.sgd.momentum;
  learning.curve = CurveMaker(setup, origin, members).make(record.elapsed);
  learning.samples_per_worker = samples_per_worker(setup, record);
  learning.effective_staleness = staleness(members);
  return learning;
}

}  // namespace cohort
