// Ctrl-C and SIGTERM as a flag that long commands look at. A second signal ends the process at
// once: journals are safe at any time.
#pragma once

#include <atomic>

namespace cohort {

// Call once, before threads start. SIGPIPE and SIGXFSZ are ignored: writes report them as errors.
void install_signal_handlers();

// True from the first SIGINT or SIGTERM on.
[[nodiscard]] const std::atomic<bool>& stop_requested();

}  // namespace cohort
