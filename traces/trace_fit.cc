#include "traces/trace_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "traces/recording.h"

namespace cohort {
namespace {

constexpr std::uint64_t kLeastSlowSteps = 10;  // for a probability
constexpr std::uint64_t kLeastSteps = 8;       // a worker, for a median and the spread about it

struct SlowSteps {
  std::uint64_t all = 0;
  std::uint64_t slow = 0;
  double excess = 0;  // sum of (time - worker's median) over the slow ones, in typical steps
  std::uint64_t before_any = 0;   // normal steps with a successor
  std::uint64_t entered = 0;      // of these, followed by a slow one
  std::uint64_t slow_before = 0;  // slow steps with a successor
  std::uint64_t stayed = 0;       // of these, followed by a slow one
};

bool is_slow(Time time, Time median) {
  return static_cast<double>(time.count()) > kSlowStep * static_cast<double>(median.count());
}

SlowSteps count_slow_steps(const ComputeTrace& trace, const std::vector<WorkerSummary>& workers,
                           double typical_ns) {
  SlowSteps count;
  for (std::uint32_t w = 0; w < trace.workers(); ++w) {
    bool before = false;
    for (std::uint64_t step = 0; step < trace.steps(); ++step) {
      const Time time = trace.at(w, step);
      const bool slow = is_slow(time, workers[w].median);
      ++count.all;
      if (slow) {
        ++count.slow;
        count.excess += static_cast<double>((time - workers[w].median).count()) / typical_ns;
      }
      if (step > 0) {
        ++(before ? count.slow_before : count.before_any);
        if (slow) ++(before ? count.stayed : count.entered);
      }
      before = slow;
    }
  }
  return count;
}

void fit_slow_steps(const SlowSteps& count, TraceFit& fit) {
  if (count.slow < kLeastSlowSteps) {
    const double slow = static_cast<double>(count.slow);
    const double bound = (slow + 3 + 2 * std::sqrt(slow)) / static_cast<double>(count.all);
    fit.notes.push_back(
        fmt::format("{} of {} steps above {} times their worker's median: too few for a "
                    "probability (95 % sure that it is below {:.2g})",
                    count.slow, count.all, kSlowStep, std::min(bound, 1.0)));
    return;
  }
  const double slow = static_cast<double>(count.slow);
  const double share = slow / static_cast<double>(count.all);
  const double factor = 1 + count.excess / slow;
  const double stay = count.slow_before == 0 ? 0
                                             : static_cast<double>(count.stayed) /
                                                   static_cast<double>(count.slow_before);
  if (count.stayed >= kLeastSlowSteps && count.before_any > 0 && stay > 2 * share) {
    const double enter = static_cast<double>(count.entered) / static_cast<double>(count.before_any);
    fit.burst = Burst{enter, 1 - stay, factor};
  } else {
    fit.bernoulli = Bernoulli{share, factor};
  }
  fit.notes.push_back(
      fmt::format("slowdowns below {} times the worker's median count as jitter", kSlowStep));
}

// Over the workers that are not slow throughout, each about its own median.
std::optional<Lognormal> fit_jitter(const ComputeTrace& trace,
                                    const std::vector<WorkerSummary>& workers) {
  double squares = 0;
  std::uint64_t steps = 0;
  std::uint64_t medians = 0;
  for (std::uint32_t w = 0; w < trace.workers(); ++w) {
    if (workers[w].ratio > kSlowRatio || workers[w].median == Time{0}) continue;
    ++medians;
    for (std::uint64_t step = 0; step < trace.steps(); ++step) {
      const Time time = trace.at(w, step);
      if (time == Time{0} || is_slow(time, workers[w].median)) continue;
      const double off = std::log(static_cast<double>(time.count()) /
                                  static_cast<double>(workers[w].median.count()));
      squares += off * off;
      ++steps;
    }
  }
  if (steps <= medians) return std::nullopt;
  return Lognormal{std::sqrt(squares / static_cast<double>(steps - medians))};
}

// Workers of about the same factor (1 %) together.
std::vector<Fixed> fit_fixed(const std::vector<WorkerSummary>& workers, double typical_ns) {
  std::map<long, Fixed> by_factor;
  for (std::uint32_t w = 0; w < workers.size(); ++w) {
    if (workers[w].ratio <= kSlowRatio) continue;
    const double factor = static_cast<double>(workers[w].median.count()) / typical_ns;
    Fixed& fixed = by_factor[std::lround(factor * 100)];
    fixed.workers.push_back(w);
    fixed.factor += (factor - fixed.factor) / static_cast<double>(fixed.workers.size());
  }
  std::vector<Fixed> fixed;
  for (auto& [hundredths, group] : by_factor) fixed.push_back(std::move(group));
  return fixed;
}

}  // namespace

TraceFit fit_trace(const ComputeTrace& trace) {
  const std::vector<WorkerSummary> workers = summarise(trace);
  std::vector<Time> normal;
  for (const WorkerSummary& worker : workers) {
    if (worker.ratio <= kSlowRatio) normal.push_back(worker.median);
  }
  TraceFit fit;
  fit.compute = median_of(std::move(normal));
  const auto typical_ns = static_cast<double>(fit.compute.count());
  if (fit.compute == Time{0}) {
    fit.notes.emplace_back("most steps take 0 s: no factor can be had from them");
    return fit;
  }
  fit.fixed = fit_fixed(workers, typical_ns);
  if (trace.steps() < kLeastSteps) {
    fit.notes.push_back(fmt::format(
        "{} steps a worker: too few to tell slow steps and jitter from a slow worker (at least {})",
        trace.steps(), kLeastSteps));
    return fit;
  }
  fit_slow_steps(count_slow_steps(trace, workers, typical_ns), fit);
  fit.jitter = fit_jitter(trace, workers);
  if (fit.jitter) {
    const double mean = typical_ns * std::exp(fit.jitter->sigma * fit.jitter->sigma / 2);
    fit.compute = Time{std::llround(mean)};
  }
  return fit;
}

}  // namespace cohort
