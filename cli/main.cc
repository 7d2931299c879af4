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

// One line whatever a file's name or a key holds: control characters are shown as \xNN.
std::string one_line(const std::string& message) {
  constexpr std::size_t kLongest = 4000;
  std::string line;
  for (const char c : message.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(c);
    code < 0x20 || code == 0x7f ? line += fmt::format("\\x{:02x}", code) : line += c;
  }
  return message.size() > kLongest ? line + "..." : line;
}

int report(int exit_code, const std::string& message) {
  fmt::print(stderr, "cohort: {}\n", one_line(message));
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
