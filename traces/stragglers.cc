#include "traces/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "policies/errors.h"
#include "policies/random.h"
#include "traces/normal_ziggurat.h"
#include "traces/units.h"

namespace cohort {
namespace {

constexpr std::size_t kMaxModels = 64;  // the sub-numbers of a stream
constexpr double kLeastFactor = 0.01;

void require(bool holds, const char* what) {
  if (!holds) throw ContractError(fmt::format("straggler model: {}", what));
}

bool is_probability(double p) { return p >= 0 && p <= 1; }
bool is_positive(double x) { return x > 0 && std::isfinite(x); }

struct Check {
  void operator()(const Bernoulli& model) const {
    require(is_probability(model.probability) && is_positive(model.factor), "bernoulli");
  }
  void operator()(const Fixed& model) const { require(is_positive(model.factor), "fixed"); }
  void operator()(const Burst& model) const {
    require(is_probability(model.enter) && is_probability(model.leave), "burst probabilities");
    require(is_positive(model.factor), "burst factor");
  }
  void operator()(const Lognormal& model) const {
    require(model.sigma >= 0 && std::isfinite(model.sigma), "lognormal sigma");
  }
  void operator()(const ShiftedExponential& model) const {
    require(model.mean >= Time{0}, "exponential mean");
  }
  void operator()(const Pareto& model) const {
    require(is_positive(model.shape) && model.scale >= Time{0}, "pareto");
  }
  void operator()(const Replay& model) const {
    require(model.trace != nullptr, "a replay has a trace");
    require(model.as == Replay::As::Seconds || model.trace->median() > Time{0},
            "factors need a median above zero");
  }
};

// Rounded up to the next ns, with the guard of from_seconds_up(). Time::max(): longer than a Time
// can hold.
Time ns_up(double ns) {
  const double whole = std::ceil(ns * (1 - 1e-14));
  return whole < 0x1p63 ? Time{static_cast<std::int64_t>(whole)} : Time::max();
}

Time recorded(const Replay& replay, std::uint32_t entity, std::uint64_t step) {
  const ComputeTrace& trace = *replay.trace;
  if (replay.repeat) return trace.at(entity % trace.workers(), step % trace.steps());
  if (entity >= trace.workers() || step >= trace.steps()) {
    throw InputError(
        "stragglers",
        fmt::format("the run reaches step {} of entity {}, the trace has {} steps of {} "
                    "workers; set \"repeat\": true or end the run earlier",
                    step, entity, trace.steps(), trace.workers()));
  }
  return trace.at(entity, step);
}

const NormalZiggurat kNormal;

bool replays_seconds(const StragglerSpec& spec) {
  const auto* replay = std::get_if<Replay>(&spec.model);
  return replay != nullptr && replay->as == Replay::As::Seconds;
}

}  // namespace

std::optional<std::string> misfit(const Replay& replay, std::uint32_t entities,
                                  std::optional<std::uint64_t> steps) {
  const ComputeTrace& trace = *replay.trace;
  if (replay.as == Replay::As::Factor && trace.median() == Time{0}) {
    return "the median of the trace is 0 s: no factors can be had from it";
  }
  if (replay.repeat) return std::nullopt;
  if (trace.workers() != entities) {
    return fmt::format("the trace has {} workers, the run needs {}; set \"repeat\": true to wrap",
                       trace.workers(), entities);
  }
  if (steps && trace.steps() < *steps) {
    return fmt::format("the trace has {} steps, the run needs {}; set \"repeat\": true to wrap",
                       trace.steps(), *steps);
  }
  return std::nullopt;
}

// What the models add to one step of one worker.
struct StepTimes::Sum {
  double extra = 0;  // of (factor - 1)
  double added_ns = 0;
};

// Adds what one model draws for consecutive steps of one worker.
struct StepTimes::Draw {
  Model& model;
  std::uint64_t seed;
  std::uint32_t number;  // of the model
  std::uint32_t worker;
  std::uint32_t entity;
  std::uint64_t first;  // step
  std::span<Sum> sums;

  [[nodiscard]] Stream stream(Purpose purpose, std::uint64_t at) const {
    return {seed, purpose, entity, at, number};
  }
  [[nodiscard]] double slowdown(std::uint64_t at) const {
    return Stream::first_uniform(seed, Purpose::Slowdown, entity, at, number);
  }
  // Calls add(step, sum) for each step.
  template <class Add>
  void for_each(Add add) const {
    for (std::size_t i = 0; i < sums.size(); ++i) add(first + i, sums[i]);
  }

  void operator()(const Bernoulli& bernoulli) const {
    for_each([&](std::uint64_t step, Sum& sum) {
      const double u = slowdown(step);
      if (u < bernoulli.probability) sum.extra += bernoulli.factor - 1;
    });
  }
  void operator()(const Fixed& fixed) const {
    if (!model.slow[worker]) return;
    for_each([&](std::uint64_t, Sum& sum) { sum.extra += fixed.factor - 1; });
  }
  void operator()(const Burst& burst) const {
    Chain& chain = model.chains[worker];
    if (first < chain.step) throw ContractError("a worker's steps were drawn out of order");
    for_each([&](std::uint64_t step, Sum& sum) {
      while (chain.step < step) {
        const double u = slowdown(++chain.step);
        chain.slow = chain.slow ? !(u < burst.leave) : u < burst.enter;
      }
      if (chain.slow) sum.extra += burst.factor - 1;
    });
  }
  void operator()(const Lognormal& jitter) const {
    for_each([&](std::uint64_t step, Sum& sum) {
      Stream draws = stream(Purpose::Jitter, step);
      sum.extra += std::exp(jitter.sigma * (kNormal(draws) - jitter.sigma / 2)) - 1;
    });
  }
  void operator()(const ShiftedExponential& jitter) const {
    for_each([&](std::uint64_t step, Sum& sum) {
      const double drawn = stream(Purpose::Jitter, step).exponential();
      sum.added_ns += static_cast<double>(jitter.mean.count()) * drawn;
    });
  }
  void operator()(const Pareto& jitter) const {
    for_each([&](std::uint64_t step, Sum& sum) {
      const double u = stream(Purpose::Jitter, step).uniform_positive();
      sum.added_ns += static_cast<double>(jitter.scale.count()) * std::pow(u, -1 / jitter.shape);
    });
  }
  void operator()(const Replay& replay) const {
    const auto median = static_cast<double>(replay.trace->median().count());
    for_each([&](std::uint64_t step, Sum& sum) {
      sum.extra += static_cast<double>(recorded(replay, entity, step).count()) / median - 1;
    });
  }
};

StepTimes::StepTimes(std::vector<Time> base, std::vector<StragglerSpec> models,
                     const Topology& topology, std::uint64_t seed)
    : base_(std::move(base)), topology_(&topology), seed_(seed) {
  require(base_.size() == topology.workers(), "one base time per worker");
  require(std::ranges::all_of(base_, [](Time time) { return time >= Time{0}; }), "base times");
  require(models.size() <= kMaxModels, "at most 64 models");
  require(models.size() <= 1 || std::ranges::none_of(models, replays_seconds),
          "a replay of seconds is the only compute model");
  if (std::ranges::adjacent_find(base_, std::not_equal_to{}) == base_.end()) {
    base_.resize(1);
    base_.shrink_to_fit();
  }
  for (StragglerSpec& spec : models) {
    std::visit(Check{}, spec.model);
    Model model{std::move(spec), {}, {}};
    if (const auto* fixed = std::get_if<Fixed>(&model.spec.model)) {
      model.slow = slow_workers(*fixed, model.spec.scope);
    } else if (std::holds_alternative<Burst>(model.spec.model)) {
      model.chains.resize(topology.workers());
    }
    models_.push_back(std::move(model));
  }
  const auto replays = [](const StragglerSpec& spec) {
    return std::holds_alternative<Replay>(spec.model);
  };
  const bool may_end = std::ranges::any_of(models_, replays, &Model::spec);
  if (topology.workers() <= kMostAhead && !may_end) ahead_.resize(topology.workers());
}

std::uint32_t StepTimes::entity(Scope scope, WorkerId worker) const {
  switch (scope) {
    case Scope::Worker:
      return index(worker);
    case Scope::Node:
      return topology_->node_of(worker);
    case Scope::All:
      return 0;
  }
  throw ContractError("unknown scope");
}

std::vector<bool> StepTimes::slow_workers(const Fixed& fixed, Scope scope) const {
  const std::uint32_t workers = topology_->workers();
  std::vector<bool> entities(workers);
  for (const std::uint32_t worker : fixed.workers) {
    require(worker < workers, "a fixed slow worker that the run does not have");
    entities[entity(scope, WorkerId{worker})] = true;
  }
  std::vector<bool> slow(workers);
  for (std::uint32_t w = 0; w < workers; ++w) slow[w] = entities[entity(scope, WorkerId{w})];
  return slow;
}

void StepTimes::draw_ahead(WorkerId worker, std::uint64_t block) {
  Ahead& ahead = ahead_[index(worker)];
  draw(worker, block * kAhead, ahead.times);
  ahead.block = block;
}

void StepTimes::draw(WorkerId worker, std::uint64_t first, std::span<Time> out) {
  std::array<Sum, kAhead> room;
  const std::span<Sum> sums(room.data(), out.size());
  for (std::uint32_t number = 0; number < models_.size(); ++number) {
    Model& model = models_[number];
    const auto drawn_for = entity(model.spec.scope, worker);
    std::visit(Draw{model, seed_, number, index(worker), drawn_for, first, sums}, model.spec.model);
  }
  const Time base = base_[base_.size() == 1 ? 0 : index(worker)];
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = duration(base, sums[i]);
}

Time StepTimes::duration(Time base, const Sum& sum) {
  if (sum.extra == 0 && sum.added_ns == 0) return base;
  const double factor = std::max(kLeastFactor, 1 + sum.extra);
  return ns_up(static_cast<double>(base.count()) * factor + sum.added_ns);
}

Time StepTimes::draw_one(WorkerId worker, std::uint64_t step) {
  if (models_.size() == 1 && replays_seconds(models_.front().spec)) {
    const StragglerSpec& spec = models_.front().spec;
    return recorded(std::get<Replay>(spec.model), entity(spec.scope, worker), step);
  }
  Time time{};
  draw(worker, step, {&time, 1});
  return time;
}

void StepTimes::refuse_endless() {
  throw InputError("stragglers", "a drawn step takes more than 292 years; draw less extreme times");
}

std::optional<Time> LinkSwitches::hold(std::uint32_t node, std::uint64_t number) const {
  const double rate = number % 2 == 0 ? spec_.enter_per_second : spec_.leave_per_second;
  if (rate <= 0) return std::nullopt;
  const double length = Stream(seed_, Purpose::Link, node, number, model_).exponential() / rate;
  if (length >= 9.2e9) return std::nullopt;  // beyond what a Time can hold
  return std::max(Time{1}, from_seconds_up(length));
}

}  // namespace cohort
