#include "experiments/step_split.h"

#include <algorithm>
#include <span>

namespace cohort {
namespace {

// A blocking member's part of one synchronisation.
struct Part {
  std::size_t sync = 0;  // index in the record
  const MemberTiming* member = nullptr;
};

// The report that a synchronisation waited for: when it reached the policy, how long it took.
struct Report {
  Time arrived{-1};
  Time trip{};
};

struct Transfer {
  Time began{};  // once the last member had begun; 0: nothing moved
  Time ended{};  // at the last member
};

// A member that failed early has no transfer to tell of.
Transfer transfer_of(const SyncTiming& sync) {
  Transfer all;
  for (const auto& member : sync.members) {
    if (member.began == Time{}) continue;
    all.began = std::max(all.began, member.began);
    all.ended = std::max(all.ended, member.ended);
  }
  return all;
}

class Splitter {
 public:
  Splitter(const RunRecord& record, std::uint32_t workers)
      : record_(record), parts_(workers), timings_(workers), last_(record.syncs.size()) {
    for (const auto& timing : record.steps) timings_[index(timing.worker)].push_back(&timing);
    for (std::size_t i = 0; i < record.syncs.size(); ++i) {
      transfers_.push_back(transfer_of(record.syncs[i]));
      for (const auto& member : record.syncs[i].members)
        if (member.member.role == Role::Blocking)
          parts_[index(member.member.worker)].push_back({i, &member});
    }
  }

  SplitRun run() {
    SplitRun result;
    for (std::uint32_t worker = 0; worker < timings_.size(); ++worker)
      for_each_step(worker, [&](const StepTiming& step, std::span<const Part> parts) {
        note_reports(step, parts);
      });
    result.steps.resize(timings_.size());
    for (std::uint32_t worker = 0; worker < timings_.size(); ++worker)
      for_each_step(worker, [&](const StepTiming& step, std::span<const Part> parts) {
        result.steps[worker].push_back(split(step, parts));
      });
    for (std::size_t i = 0; i < last_.size(); ++i)
      if (last_[i].arrived >= Time{} && last_[i].arrived < record_.syncs[i].decided)
        ++result.conflicts;
    return result;
  }

 private:
  // A step's parts are those decided before the next step's ready arrives.
  template <typename Visit>
  void for_each_step(std::uint32_t worker, Visit visit) const {
    const auto& steps = timings_[worker];
    const std::span<const Part> parts = parts_[worker];
    std::size_t from = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Time limit = i + 1 < steps.size() ? steps[i + 1]->arrived : Time::max();
      std::size_t to = from;
      while (to < parts.size() && record_.syncs[parts[to].sync].decided < limit) ++to;
      visit(*steps[i], parts.subspan(from, to - from));
      from = to;
    }
  }
  void note_reports(const StepTiming& step, std::span<const Part> parts) {
    Report report{step.arrived, step.arrived - step.ended};
    for (const auto& part : parts) {
      if (report.arrived > last_[part.sync].arrived) last_[part.sync] = report;
      const Time done = record_.syncs[part.sync].done;
      report = {done, std::max(Time{}, done - transfers_[part.sync].ended)};
    }
  }
  [[nodiscard]] SplitStep split(const StepTiming& step, std::span<const Part> parts) const {
    SplitStep result;
    result.timing = &step;
    result.done = step.resumed > step.began;
    result.answered = step.arrived;
    const Time end = result.done ? step.resumed : std::max(record_.elapsed, step.ended);
    Time at = step.began;
    const auto until = [&](Spent how, Time to, const SyncTiming* sync = nullptr) {
      to = std::clamp(to, at, std::max(at, end));
      if (to > at) result.intervals.push_back({how, at, to, sync});
      at = to;
    };
    until(Spent::Compute, step.ended);
    for (const auto& part : parts) {
      const auto& sync = record_.syncs[part.sync];
      const auto& transfer = transfers_[part.sync];
      until(Spent::Wait, sync.decided - last_[part.sync].trip);
      until(Spent::Coordinate, std::max(transfer.began, sync.decided));
      until(Spent::Sync, sync.failed ? sync.done : transfer.ended, &sync);
      result.answered = sync.done;
      result.communicator += part.member->communicator;
    }
    if (parts.empty() || !result.done) until(Spent::Wait, result.done ? answered(step) : end);
    until(Spent::Coordinate, end);
    return result;
  }
  static Time answered(const StepTiming& step) {
    return std::max(step.ended, step.resumed - 2 * (step.arrived - step.ended));
  }

  const RunRecord& record_;
  std::vector<std::vector<Part>> parts_;                 // by worker
  std::vector<std::vector<const StepTiming*>> timings_;  // by worker
  std::vector<Report> last_;                             // by synchronisation
  std::vector<Transfer> transfers_;                      // by synchronisation
};

}  // namespace

SplitRun split_steps(const RunRecord& record, std::uint32_t workers) {
  return Splitter(record, workers).run();
}

}  // namespace cohort
