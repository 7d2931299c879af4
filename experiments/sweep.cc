#include "experiments/sweep.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "experiments/manifest.h"
#include "experiments/publication.h"
#include "experiments/result_directory.h"
#include "experiments/row_run.h"
#include "experiments/sweep_plan.h"
#include "experiments/version.h"
#include "experiments/worker_pool.h"
#include "policies/errors.h"

namespace cohort {
namespace {

// Flushing to the disk is slow: at most twice a second.
constexpr std::chrono::milliseconds kFlushInterval{500};

// Computes rows and keeps their text; run() is called from several threads.
class RowMaker {
 public:
  RowMaker(const Experiment& experiment, Journal& journal, const std::atomic<bool>* stop)
      : experiment_(experiment), journal_(journal), stop_(stop), rows_(journal.rows()) {}

  void run(const PlannedRow& row) {
    // Rows of one cell follow one another: a thread resolves its cell once.
    thread_local const RowMaker* owner = nullptr;
    thread_local std::uint32_t number = 0;
    thread_local std::optional<Cell> cell;
    if (owner != this || !cell || number != row.cell) {
      cell = experiment_.cell(row.cell);
      number = row.cell;
      owner = this;
    }
    auto finished = run_row(cell->scenario(cell->policies[row.policy], row.seed), stop_);
    journal_.append(row.key, finished.text);
    const std::scoped_lock lock(mutex_);
    rows_.emplace(row.key, std::move(finished.text));
  }
  [[nodiscard]] const Journal::Rows& rows() const { return rows_; }

 private:
  const Experiment& experiment_;
  Journal& journal_;
  const std::atomic<bool>* stop_;
  std::mutex mutex_;  // guards rows_
  Journal::Rows rows_;
};

// Runs the missing rows; how many of them are finished in the end.
std::size_t run_missing(RowMaker& maker, Journal& journal, const std::vector<PlannedRow>& missing,
                        std::size_t total, const SweepOptions& options) {
  using Clock = std::chrono::steady_clock;
  auto flushed = Clock::now();
  PoolOptions pool{.jobs = options.jobs,
                   .stop = options.stop,
                   .tick = {},
                   .interval = std::chrono::milliseconds(100)};
  pool.tick = [&](std::size_t done) {
    if (options.progress) options.progress(total - missing.size() + done, total);
    if (Clock::now() - flushed < kFlushInterval) return;
    journal.sync();
    flushed = Clock::now();
  };
  std::atomic<std::size_t> abandoned = 0;
  const auto returned = run_pool(
      missing.size(),
      [&](std::size_t i) {
        try {
          maker.run(missing[i]);
        } catch (const Interrupted&) {
          ++abandoned;
        }
      },
      pool);
  journal.sync();
  return returned - abandoned;
}

}  // namespace

SweepReport run_sweep(const Experiment& experiment, const SweepOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const auto plan = plan_rows(experiment, Cells::All);
  ResultDirectory directory(options.out, version());
  auto& journal = directory.journal();
  check_same_spec(plan, directory);
  const auto missing = missing_rows(plan, journal.rows());
  RowMaker maker(experiment, journal, options.stop);
  SweepReport report{.rows = plan.size(), .damaged = journal.damaged_lines()};
  report.computed = run_missing(maker, journal, missing, plan.size(), options);
  report.finished = plan.size() - missing.size() + report.computed;
  if (report.computed < missing.size()) return report;
  const auto results = results_of(experiment, plan, maker.rows());
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
