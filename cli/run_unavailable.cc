// `cohort run` in a build without real runs.
#include "cli/calibrate_measure.h"
#include "cli/run.h"
#include "policies/errors.h"

namespace cohort {
namespace {

[[noreturn]] void refuse() {
  throw EnvironmentError("this build has no real runs; build it with ./quickstart --real");
}

}  // namespace

bool can_run() { return false; }

bool can_run(BackendKind) { return false; }

int run_spec(const RunArguments&) { refuse(); }

int calibrate_by_measuring(bool) { refuse(); }

int run_local_rank(const LocalRankArguments&) { refuse(); }

}  // namespace cohort
