// The one binary: hands over to a command, and maps every error to its exit code and one message
// on stderr.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "cli/command_line.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "policies/errors.h"

namespace cohort {
namespace {

int report(int exit_code, const std::string& message) {
  fmt::print(stderr, "cohort: {}\n", message);
  return exit_code;
}

int run_and_map_errors(int argc, char** argv) {
  try {
    const int exit_code = run_command_line(argc, argv);
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
