// The one binary: hands over to a subcommand, and maps every error to its exit code and one message
// on stderr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "cli/calibrate.h"
#include "cli/doctor.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "cli/plot.h"
#include "cli/policies.h"
#include "cli/simulate.h"
#include "cli/sweep.h"
#include "cli/trace.h"
#include "experiments/version.h"
#include "policies/errors.h"

namespace cohort {
namespace {

int report(int exit_code, const std::string& message) {
  fmt::print(stderr, "cohort: {}\n", message);
  return exit_code;
}

int run(int argc, char** argv) {
  CLI::App app("Group-scheduling policies for data-parallel training, simulated.", "cohort");
  app.set_version_flag("--version", "cohort " + version());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 some cells failed; 2 wrong input; 3 the environment failed; 4 a bug; "
      "130 interrupted.");
  int exit_code = kDone;
  add_simulate(app, exit_code);
  add_sweep(app, exit_code);
  add_calibrate(app, exit_code);
  add_trace(app, exit_code);
  add_plot(app, exit_code);
  add_policies(app, exit_code);
  add_doctor(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report(kWrongInput, error.what() + std::string(" (see cohort --help)"));
  }
  return exit_code;
}

int run_and_map_errors(int argc, char** argv) {
  try {
    const int exit_code = run(argc, argv);
    if (std::fflush(stdout) != 0) {
      return report(kEnvironmentFailed,
                    fmt::format("cannot write the output: {}", std::strerror(errno)));
    }
    return exit_code;
  } catch (const InputError& error) {
    return report(kWrongInput, error.what());
  } catch (const EnvironmentError& error) {
    return report(kEnvironmentFailed, error.what());
  } catch (const ContractError& error) {
    return report(kOurBug, fmt::format("a bug in cohort, please report it: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return report(kEnvironmentFailed, "out of memory");
  } catch (const std::system_error&
               error) {  // files, threads, output: what the standard library or fmt met
    return report(kEnvironmentFailed, error.what());
  } catch (const std::exception& error) {
    return report(kOurBug, fmt::format("a bug in cohort, please report it: {}", error.what()));
  }
}

}  // namespace
}  // namespace cohort

int main(int argc, char** argv) {
  cohort::install_signal_handlers();
  return cohort::run_and_map_errors(argc, argv);
}
