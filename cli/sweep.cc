#include "cli/sweep.h"

#include <fmt/format.h>

#include "cli/error_report.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "experiments/launched_rank.h"
#include "experiments/progress_display.h"
#include "experiments/rank_helper.h"
#include "experiments/sweep.h"

namespace cohort {
namespace {

void say_what_was_done(const SweepReport& report, const std::string& out) {
  if (report.damaged > 0) {
    fmt::print(stderr, "cohort: {} damaged lines of {}/journal.jsonl were left out\n",
               report.damaged, out);
  }
  if (report.computed == 0 && !report.published) {
    fmt::print(stderr, "cohort: {}: finished before, nothing to do ({} rows)\n", out, report.rows);
  } else {
    fmt::print(stderr,
               "cohort: {}: {} rows, {} computed now; results.csv, results.jsonl, manifest.json\n",
               out, report.rows, report.computed);
  }
  if (report.failed > 0) {
    fmt::print(stderr, "cohort: {} rows failed; their column \"error\" says why\n", report.failed);
  }
}

}  // namespace

int sweep_spec(const SweepArguments& arguments) {
  const Experiment experiment(arguments.spec.spec, arguments.spec.sets);
  const auto rank = launched_rank();
  if (rank && rank->rank > 0) {
    help_sweep(experiment, {.out = arguments.out,
                            .rank = rank->rank,
                            .jobs = arguments.spec.jobs,
                            .stop = &stop_requested()});
    return stop_requested() ? kInterrupted : kDone;
  }
  SweepReport report;
  {
    ProgressDisplay display("rows");
    SweepOptions options{.out = arguments.out,
                         .jobs = arguments.spec.jobs,
                         .stop = &stop_requested(),
                         .progress = {},
                         .launched = rank,
                         .log = say};
    options.progress = [&](std::size_t finished, std::size_t total) {
      display.update(finished, total);
    };
    report = run_sweep(experiment, options);
  }
  if (report.finished < report.rows) {
    fmt::print(stderr,
               "cohort: interrupted with {} of {} rows finished; the same command resumes\n",
               report.finished, report.rows);
    return kInterrupted;
  }
  say_what_was_done(report, arguments.out);
  return report.failed > 0 ? kSomeCellsFailed : kDone;
}

}  // namespace cohort
