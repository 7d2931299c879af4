#include "experiments/sweep.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <optional>

#include "experiments/manifest.h"
#include "experiments/publication.h"
#include "experiments/rank_meeting.h"
#include "experiments/rank_server.h"
#include "experiments/result_directory.h"
#include "experiments/row_maker.h"
#include "experiments/row_queue.h"
#include "experiments/sweep_plan.h"
#include "experiments/version.h"
#include "experiments/worker_pool.h"
#include "policies/errors.h"

namespace cohort {
namespace {

// Flushing to the disk is slow: at most twice a second.
constexpr std::chrono::milliseconds kFlushInterval{500};

// The text of finished rows; keep() is called from several threads.
class FinishedRows {
 public:
  explicit FinishedRows(Journal& journal) : journal_(journal), rows_(journal.rows()) {}

  void keep(std::uint64_t key, std::string text) {
    const std::scoped_lock lock(mutex_);
    if (rows_.contains(key)) return;
    journal_.append(key, text);
    rows_.emplace(key, std::move(text));
  }
  [[nodiscard]] const Journal::Rows& rows() const { return rows_; }

 private:
  Journal& journal_;
  std::mutex mutex_;  // guards rows_
  Journal::Rows rows_;
};

// One call of run_missing.
struct Sweeping {
  const Experiment& experiment;
  Journal& journal;
  const std::vector<PlannedRow>& missing;
  std::size_t total;  // rows of the plan
  std::uint64_t digest;
  const SweepOptions& options;
};

// What one thread does: rows from the queue until none is left.
void compute_rows(const Sweeping& sweep, RowQueue& queue, Tunings& tunings,
                  const RankServer::Keep& keep) {
  RowMaker maker(sweep.experiment, tunings, sweep.options.stop);
  try {
    while (const auto number = queue.take()) {
      const auto& row = sweep.missing[*number];
      keep(*number, maker.make(row.cell, row.policy, row.seed).text);
    }
  } catch (const Interrupted&) {
  } catch (...) {
    queue.fail(std::current_exception());
    throw;
  }
}

// Reports progress, and flushes the journal now and then.
PoolOptions watching(const Sweeping& sweep, RowQueue& queue) {
  using Clock = std::chrono::steady_clock;
  PoolOptions pool{.jobs = sweep.options.jobs,
                   .stop = nullptr,
                   .tick = {},
                   .interval = std::chrono::milliseconds(100)};
  pool.tick = [&sweep, &queue, flushed = Clock::now()](std::size_t) mutable {
    const auto left = sweep.missing.size() - queue.finished();
    if (sweep.options.progress) sweep.options.progress(sweep.total - left, sweep.total);
    if (Clock::now() - flushed < kFlushInterval) return;
    try {
      sweep.journal.sync();
    } catch (const EnvironmentError&) {
      queue.fail(std::current_exception());
      throw;
    }
    flushed = Clock::now();
  };
  return pool;
}

// Runs the missing rows, here and at the other ranks; how many of them are finished in the end.
std::size_t run_missing(const Sweeping& sweep, FinishedRows& finished) {
  const auto& options = sweep.options;
  RowQueue queue(sweep.missing.size(), options.stop);
  const auto keep = [&](std::size_t row, std::string text) {
    finished.keep(sweep.missing[row].key, std::move(text));
    queue.finish(row);
  };
  std::optional<RankServer> others;
  if (options.launched) {
    others.emplace(queue, sweep.missing, keep,
                   RankServer::Options{.out = options.out,
                                       .ranks = options.launched->ranks,
                                       .one_host = options.launched->one_host,
                                       .plan = sweep.digest,
                                       .log = options.log});
  }
  Tunings tunings;
  run_pool(
      options.jobs, [&](std::size_t) { compute_rows(sweep, queue, tunings, keep); },
      watching(sweep, queue));
  const bool all = queue.finished() == sweep.missing.size();
  if (others) others->dismiss(all ? kMeetingLimit : std::chrono::seconds(0));
  sweep.journal.sync();
  return queue.finished();
}

}  // namespace

SweepReport run_sweep(const Experiment& experiment, const SweepOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const auto plan = plan_rows(experiment, Cells::All);
  ResultDirectory directory(options.out, version());
  auto& journal = directory.journal();
  check_same_spec(plan, directory);
  const auto missing = missing_rows(plan, journal.rows());
  FinishedRows rows(journal);
  SweepReport report{.rows = plan.size(), .damaged = journal.damaged_lines()};
  report.computed =
      run_missing({experiment, journal, missing, plan.size(), plan_digest(plan), options}, rows);
  report.finished = plan.size() - missing.size() + report.computed;
  if (report.computed < missing.size()) return report;
  const auto results = results_of(experiment, plan, rows.rows());
  report.failed = results.failed;
  report.published = report.computed > 0 || !is_published(results, directory);
  if (report.published) {
    const RunFacts facts{.command = "sweep",
                         .rows = report.rows,
                         .computed = report.computed,
                         .failed = report.failed,
                         .jobs = options.jobs,
                         .wall = std::chrono::steady_clock::now() - begin};
    publish(manifest_text(experiment, facts), results, directory);
  }
  return report;
}

}  // namespace cohort
