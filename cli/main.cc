// The one binary: hands over to a command, and maps every error to its exit code and one message
// on stderr.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/command_line.h"
#include "cli/error_report.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"

namespace cohort {
namespace {

int run_and_map_errors(int argc, char** argv) {
  try {
    const int exit_code = run_command_line(argc, argv);
    if (std::fflush(stdout) == 0) return exit_code;
    return report_error(kEnvironmentFailed,
                        fmt::format("cannot write the output: {}", std::strerror(errno)));
  } catch (...) {
    return report_current_error();
  }
}

}  // namespace
}  // namespace cohort

int main(int argc, char** argv) {
  cohort::install_signal_handlers();
  return cohort::run_and_map_errors(argc, argv);
}
