// A real run's learning, from what its members know of it (runtime/curve_evaluation.h).
//
// A point's time is that of the latest copy in the model, of the last point the run's end. The
// samples used by then are those of the workers' own steps at their copies; under parameter
// servers, those of the pushes in the servers' updates. samples_per_worker counts the steps that
// were reported, also by workers that were lost.
#pragma once

#include <optional>
#include <span>

#include "runtime/messages.h"
#include "runtime/run_record.h"
#include "runtime/run_setup.h"

namespace cohort {

// `setup` has a training plan; `origin`: of the run, on the clock of the messages; `members`: what
// each member said, none where it was lost. Throws FrameError when they do not fit together,
// InputError ("/workload/training") when the loss of the mean model is not finite.
[[nodiscard]] Learning learning_of(const RunSetup& setup, const RunRecord& record, Time origin,
                                   std::span<const std::optional<message::Learned>> members);

}  // namespace cohort
