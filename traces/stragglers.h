// How long each local step of each worker computes: base time, straggler models, recorded traces.
//
//   duration(w, s) = base(w) * max(0.01, 1 + sum over models of (factor - 1)) + additive jitter,
//   rounded up to the next ns
//
// Draws come from counter-based streams keyed by (seed, purpose, entity, step, model), so all
// policies meet the same steps. The entity is the worker, its node, or one for all, by the model's
// scope. What is drawn is an amount of work; the simulator may stretch it (interference). Link
// stragglers change bandwidths over simulated time and are drawn here too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "policies/synchronisation.h"
#include "policies/topology.h"
#include "traces/compute_trace.h"

namespace cohort {

struct Bernoulli {  // each step independently slowed [Prague 2020]
  double probability = 0;
  double factor = 1;
};
struct Fixed {  // always slow
  std::vector<std::uint32_t> workers;
  double factor = 1;
};
struct Burst {  // two-state Markov chain that advances per local step, starting normal
  double enter = 0;
  double leave = 0;
  double factor = 1;
};
struct Lognormal {  // factor exp(sigma z - sigma^2/2), mean 1
  double sigma = 0;
};
struct ShiftedExponential {  // additive
  Time mean{};
};
struct Pareto {  // additive; P(X > x) = (scale/x)^shape for x >= scale
  double shape = 1;
  Time scale{};
};
struct Replay {
  enum class As : std::uint8_t { Seconds, Factor };  // Factor: relative to the trace's median
  std::shared_ptr<const ComputeTrace> trace;
  As as = As::Seconds;  // Seconds: the only compute model
  bool repeat = false;
};

enum class Scope : std::uint8_t { Worker, Node, All };

struct StragglerSpec {
  std::variant<Bernoulli, Fixed, Burst, Lognormal, ShiftedExponential, Pareto, Replay> model;
  Scope scope = Scope::Worker;
};

struct LinkStraggler {  // the NICs of these nodes turn slow and recover: exponential holding times
  std::vector<std::uint32_t> nodes;
  double enter_per_second = 0;
  double leave_per_second = 0;
  double factor = 1;  // >= 1: bandwidth divided by it while slow
};

// Why a recorded trace cannot serve a run in which a replay draws for `entities` workers, nodes or
// all (its scope), of `steps` steps each (none: not known beforehand). Empty when it can: another
// number of workers or too few steps need `repeat`, which wraps both. A spec reader refuses with
// this text.
[[nodiscard]] std::optional<std::string> misfit(const Replay& replay, std::uint32_t entities,
                                                std::optional<std::uint64_t> steps);

// Draws durations. Steps of one worker must be asked in non-decreasing order (burst chains advance
// with them); workers in any order. A scope widens a draw to every worker of the entity: a `Fixed`
// slows all workers that share an entity with a listed one, a `Replay` reads the row of the
// entity's number. With a replay of seconds the base is not used.
class StepTimes {
 public:
  // `base[w]`: compute time of worker w's step without slowdown. `topology` outlives this. Throws
  // ContractError on values that a spec reader refuses: a replay of seconds beside other models, no
  // trace, more than 64 models, values out of range.
  StepTimes(std::vector<Time> base, std::vector<StragglerSpec> models, const Topology& topology,
            std::uint64_t seed);

  // Throws InputError past the end of a trace without `repeat`, or when a drawn time exceeds 292
  // years; ContractError when a worker goes back in its steps.
  [[nodiscard]] Time operator()(WorkerId worker, std::uint64_t step) {
    const Time time = ahead_.empty() ? draw_one(worker, step) : ahead(worker, step);
    if (time == Time::max()) [[unlikely]]
      refuse_endless();
    return time;
  }

 private:
  // In a run of at most kMostAhead workers so many steps of a worker are drawn at once: faster, and
  // a draw does not depend on when it is made. Not from a recorded trace, which may end.
  static constexpr std::uint32_t kAhead = 8;
  static constexpr std::uint32_t kMostAhead = 1024;
  struct Ahead {
    std::uint64_t block = UINT64_MAX;  // the steps from block * kAhead on; none yet
    std::array<Time, kAhead> times{};
  };
  struct Chain {
    std::uint64_t step = 0;
    bool slow = false;
  };
  struct Model {
    StragglerSpec spec;
    std::vector<bool> slow;     // by worker; Fixed only
    std::vector<Chain> chains;  // by worker, each on its entity's draws; Burst only
  };
  struct Sum;
  struct Draw;

  [[nodiscard]] Time ahead(WorkerId worker, std::uint64_t step) {
    if (ahead_[index(worker)].block != step / kAhead) draw_ahead(worker, step / kAhead);
    return ahead_[index(worker)].times[step % kAhead];
  }
  void draw_ahead(WorkerId worker, std::uint64_t block);
  [[nodiscard]] Time draw_one(WorkerId worker, std::uint64_t step);
  void draw(WorkerId worker, std::uint64_t first, std::span<Time> out);
  [[nodiscard]] static Time duration(Time base, const Sum& sum);
  [[noreturn]] static void refuse_endless();
  [[nodiscard]] std::uint32_t entity(Scope scope, WorkerId worker) const;
  [[nodiscard]] std::vector<bool> slow_workers(const Fixed& fixed, Scope scope) const;

  std::vector<Time> base_;  // one entry when all workers have the same
  std::vector<Model> models_;
  std::vector<Ahead> ahead_;  // by worker; empty when each step is drawn when it is asked
  const Topology* topology_;
  std::uint64_t seed_;
};

// Holding times of the speed of one node's NIC under one link straggler: state k lasts hold(k);
// even k fast, odd k slow.
class LinkSwitches {
 public:
  LinkSwitches(LinkStraggler spec, std::uint32_t model, std::uint64_t seed)
      : spec_(std::move(spec)), model_(model), seed_(seed) {}
  // Empty when the state never ends (rate 0).
  [[nodiscard]] std::optional<Time> hold(std::uint32_t node, std::uint64_t number) const;
  [[nodiscard]] const LinkStraggler& spec() const { return spec_; }

 private:
  LinkStraggler spec_;
  std::uint32_t model_;
  std::uint64_t seed_;
};

}  // namespace cohort
