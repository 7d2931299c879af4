// The report is written by rank 0 alone; a check that fails elsewhere fails the program by its
// exit code, and says so on stderr.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/runtime/mpi/under_mpi.h"

namespace cohort {
namespace {

MpiJob* job = nullptr;

int start_under_mpirun(char** arguments) {
  std::vector<const char*> command{"mpirun", "--oversubscribe", "--allow-run-as-root", "-np",
                                   COHORT_TEST_RANKS};
  for (; *arguments != nullptr; ++arguments) command.push_back(*arguments);
  command.push_back(nullptr);
  execvp(command.front(), const_cast<char* const*>(command.data()));
  std::perror("mpirun");
  return 1;
}

int run(int count, char** arguments) {
  doctest::Context context;
  MpiJob own;
  job = &own;
  std::vector<const char*> given(arguments, arguments + count);
  if (own.rank() != 0) {
    // The same cases, but the report is rank 0's.
    std::erase_if(given, [](std::string_view argument) {
      return argument.starts_with("--out=") || argument.starts_with("--reporters=");
    });
    context.setOption("no-path-filenames", true);
    context.setOption("minimal", true);
    context.setOption("no-colors", true);
  }
  context.applyCommandLine(static_cast<int>(given.size()), given.data());
  return context.run();
}

}  // namespace

MpiJob& mpi_job() { return *job; }

}  // namespace cohort

// Open MPI keeps memory until a process ends, in plugins that are gone when leaks are looked for:
// no suppression can name them.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }

int main(int count, char** arguments) {
  if (!cohort::MpiJob::launched()) return cohort::start_under_mpirun(arguments);
  return cohort::run(count, arguments);
}
