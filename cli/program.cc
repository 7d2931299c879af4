#include "cli/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "policies/errors.h"

namespace cohort {

int run_program(const std::vector<std::string>& command, Output output) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const auto child = ::fork();
  if (child < 0) throw EnvironmentError("cannot start " + command.front() + ": fork failed");
  if (child == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    if (output == Output::Discarded) {
      const int nowhere = ::open("/dev/null", O_RDWR);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
    }
    ::execvp(arguments.front(), arguments.data());
    ::_exit(kCannotRun);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool has_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (::access((std::filesystem::path(directory) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

bool has_python_module(const std::string& python, const std::string& module) {
  return run_program({python, "-c", "import " + module}, Output::Discarded) == 0;
}

std::string python_with_plots() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (has_python_module(python, "matplotlib, pandas")) return python;
  }
  return "python3";
}

}  // namespace cohort
