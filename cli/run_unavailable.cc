// `cohort run` in a build without real runs.
#include "cli/calibrate_measure.h"
#include "cli/run.h"
#include "policies/errors.h"

namespace cohort {

bool can_run() { return false; }

bool can_run(BackendKind) { return false; }

int run_spec(const RunArguments&) {
  throw EnvironmentError("this build has no real runs; build it with -Druntime=enabled");
}

int calibrate_by_measuring(bool) {
  throw EnvironmentError("this build has no real runs; build it with -Druntime=enabled");
}

int run_local_rank(const LocalRankArguments&) {
  throw EnvironmentError("this build has no real runs; build it with -Druntime=enabled");
}

}  // namespace cohort
