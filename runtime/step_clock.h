// The clock that local steps are timed by, and sleep that ends with the run.
#pragma once

#include "runtime/replica.h"

namespace cohort {

[[nodiscard]] Time monotonic_now();

// Until this instant of monotonic_now(), to within the timer's resolution; looks at Replica::over
// now and then.
void sleep_until(Time instant, const Replica& replica);

}  // namespace cohort
