#include "cli/interrupt.h"

#include <csignal>

namespace cohort {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> g_stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_stop = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

const std::atomic<bool>& stop_requested() { return g_stop; }

}  // namespace cohort
