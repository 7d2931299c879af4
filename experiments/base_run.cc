#include "experiments/base_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/manifest.h"
#include "experiments/publication.h"
#include "experiments/recorder.h"
#include "experiments/result_directory.h"
#include "experiments/row_run.h"
#include "experiments/sweep_plan.h"
#include "experiments/tuning.h"
#include "experiments/version.h"
#include "experiments/worker_pool.h"

namespace cohort {
namespace {

class BaseRun {
 public:
  BaseRun(const Experiment& experiment, const BaseRunOptions& options)
      : experiment_(experiment),
        options_(options),
        plan_(plan_rows(experiment, Cells::BaseOnly)),
        rows_(plan_.size()) {}

  BaseRunReport run() {
    if (options_.out) {
      directory_.emplace(*options_.out, version());
      check_same_spec(plan_, *directory_);
      for (std::size_t i = 0; i < plan_.size(); ++i)
        parts_.push_back(directory_->path() / fmt::format("events-{}.part", i + 1));
    }
    PoolOptions pool{.jobs = options_.jobs, .stop = options_.stop, .tick = {}};
    if (options_.progress)
      pool.tick = [this](std::size_t done) { options_.progress(done, rows_.size()); };
    try {
      const auto done = run_pool(
          rows_.size(), [this](std::size_t i) { run_one(i); }, pool);
      if (done < rows_.size()) return stopped();
    } catch (const Interrupted&) {
      return stopped();
    } catch (...) {
      clean_up();
      throw;
    }
    return finished();
  }

 private:
  void run_one(std::size_t i) {
    const auto& row = plan_[i];
    const auto threads = threads_of_a_row();
    const auto made = tunings_.scenario(experiment_.base(), 0, row.policy, row.seed,
                                        {.stop = options_.stop, .threads = threads});
    if (!directory_) {
      rows_[i] = run_row(made, options_.stop, {.threads = threads});
      return;
    }
    Recorder recorder(parts_[i], made.scenario);
    Timeline timeline;
    rows_[i] = run_row(made, options_.stop,
                       {.log = recorder.log(),
                        .timeline = options_.timeline ? &timeline : nullptr,
                        .threads = threads});
    recorder.finish();
    if (options_.timeline)
      write_timeline(directory_->path() / timeline_name(i), timeline, made.scenario);
  }
  // All cores for few rows.
  [[nodiscard]] unsigned threads_of_a_row() const {
    const auto at_once = std::min<std::size_t>(options_.jobs, rows_.size());
    return std::max(1U, options_.jobs / static_cast<unsigned>(std::max<std::size_t>(1, at_once)));
  }
  void clean_up() const {
    std::error_code ignored;
    for (const auto& part : parts_) std::filesystem::remove(part, ignored);
  }
  BaseRunReport stopped() {
    clean_up();
    return {.rows = {}, .failed = 0, .stopped = true};
  }
  BaseRunReport finished() {
    BaseRunReport report;
    Journal::Rows by_key;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      report.failed += rows_[i].failed ? 1 : 0;
      report.rows.push_back(rows_[i].text);
      by_key.emplace(plan_[i].key, rows_[i].text);
    }
    if (directory_) publish_all(by_key, report);
    return report;
  }
  void publish_all(const Journal::Rows& by_key, const BaseRunReport& report) {
    auto& journal = directory_->journal();
    for (const auto& row : plan_) {
      if (!journal.rows().contains(row.key)) journal.append(row.key, by_key.at(row.key));
    }
    journal.sync();
    join_files(parts_, directory_->path() / "events.jsonl");
    clean_up();
    const RunFacts facts{.command = "simulate",
                         .rows = plan_.size(),
                         .computed = plan_.size(),
                         .failed = report.failed,
                         .jobs = options_.jobs,
                         .wall = std::chrono::steady_clock::now() - begin_};
    publish(manifest_text(experiment_, facts), results_of(experiment_, plan_, by_key, false),
            *directory_);
  }

  const Experiment& experiment_;
  const BaseRunOptions& options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<PlannedRow> plan_;
  std::vector<FinishedRow> rows_;
  Tunings tunings_;
  std::optional<ResultDirectory> directory_;
  std::vector<std::filesystem::path> parts_;  // of the event log, by row
};

}  // namespace

std::string timeline_name(std::size_t row) {
  return row == 0 ? "timeline.json" : fmt::format("timeline-{}.json", row + 1);
}

BaseRunReport run_base(const Experiment& experiment, const BaseRunOptions& options) {
  return BaseRun(experiment, options).run();
}

}  // namespace cohort
