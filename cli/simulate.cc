#include "cli/simulate.h"

#include <fmt/format.h>

#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "cli/row_table.h"
#include "experiments/base_run.h"
#include "experiments/progress_display.h"
#include "policies/errors.h"

namespace cohort {

int simulate_spec(const SimulateArguments& arguments) {
  if (arguments.timeline && arguments.out.empty()) {
    throw InputError("--timeline", "has nowhere to go; allowed: together with --out DIR");
  }
  const Experiment experiment(arguments.spec.spec, arguments.spec.sets);
  if (!experiment.axes().pointers().empty()) {
    for (std::uint64_t cell = 0; cell < experiment.axes().cells(); ++cell)
      static_cast<void>(experiment.cell(cell));
    fmt::print(stderr,
               "cohort: the spec has a sweep of {} cells; this is its base cell alone (all of "
               "them: cohort sweep)\n",
               experiment.axes().cells());
  }
  ProgressDisplay display("runs");
  BaseRunOptions options{.out = {},
                         .timeline = arguments.timeline,
                         .jobs = arguments.spec.jobs,
                         .stop = &stop_requested(),
                         .progress = {}};
  if (!arguments.out.empty()) options.out = arguments.out;
  options.progress = [&](std::size_t finished, std::size_t total) {
    display.update(finished, total);
  };
  const auto report = run_base(experiment, options);
  if (report.stopped) {
    fmt::print(stderr, "cohort: interrupted; nothing was written\n");
    return kInterrupted;
  }
  fmt::print("{}", arguments.json ? runs_json(report.rows) : row_table(report.rows));
  return report.failed > 0 ? kSomeCellsFailed : kDone;
}

}  // namespace cohort
