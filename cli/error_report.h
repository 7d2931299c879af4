// What cohort says on stderr: every error as its exit code and one line, and notes.
#pragma once

#include <string>

namespace cohort {

// Of the exception that is being handled: call inside a catch block. Returns the exit code.
[[nodiscard]] int report_current_error();

// "cohort: MESSAGE", one line whatever a file's name or a key holds. Returns the exit code.
int report_error(int exit_code, const std::string& message);

// "cohort: NOTE".
void say(const std::string& note);

}  // namespace cohort
