#include "cli/error_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "cli/exit_codes.h"
#include "policies/errors.h"

namespace cohort {
namespace {

// Control characters are shown as \xNN.
std::string one_line(const std::string& message) {
  constexpr std::size_t kLongest = 4000;
  std::string line;
  for (const char c : message.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(c);
    code < 0x20 || code == 0x7f ? line += fmt::format("\\x{:02x}", code) : line += c;
  }
  return message.size() > kLongest ? line + "..." : line;
}

}  // namespace

int report_error(int exit_code, const std::string& message) {
  fmt::print(stderr, "cohort: {}\n", one_line(message));
  return exit_code;
}

void say(const std::string& note) { fmt::print(stderr, "cohort: {}\n", note); }

int report_current_error() {
  try {
    throw;
  } catch (const InputError& error) {
    return report_error(kWrongInput, error.what());
  } catch (const EnvironmentError& error) {
    return report_error(kEnvironmentFailed, error.what());
  } catch (const ContractError& error) {
    return report_error(kOurBug,
                        fmt::format("a bug in cohort, please report it: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return report_error(kEnvironmentFailed, "out of memory");
  } catch (const std::system_error&
               error) {  // files, threads, output: what the standard library or fmt met
    return report_error(kEnvironmentFailed, error.what());
  } catch (const std::exception& error) {
    return report_error(kOurBug,
                        fmt::format("a bug in cohort, please report it: {}", error.what()));
  }
}

}  // namespace cohort
