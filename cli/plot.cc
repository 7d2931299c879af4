#include "cli/plot.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/exit_codes.h"
#include "cli/program.h"
#include "policies/errors.h"

namespace cohort {
namespace {

// Beside the sources of the build, or where the install puts it.
std::filesystem::path find_script() {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path candidates[] = {here / "../../plots/plot.py",
                                              here / "../share/cohort/plots/plot.py"};
  for (const auto& candidate : candidates) {
    if (std::filesystem::exists(candidate)) return candidate.lexically_normal();
  }
  throw EnvironmentError(fmt::format("the figure scripts are neither at {} nor at {}",
                                     candidates[0].lexically_normal().string(),
                                     candidates[1].lexically_normal().string()));
}

}  // namespace

int plot(const PlotArguments& arguments) {
  for (const auto& directory : arguments.directories) {
    if (!std::filesystem::is_directory(directory)) {
      throw InputError(directory,
                       "is no directory; allowed: directories of results (cohort sweep --out)");
    }
  }
  std::vector<std::string> command{python_with_plots(), find_script().string()};
  command.insert(command.end(), arguments.directories.begin(), arguments.directories.end());
  if (!arguments.out.empty()) command.insert(command.end(), {"--out", arguments.out});
  if (!arguments.format.empty()) command.insert(command.end(), {"--format", arguments.format});
  const int exit_code = run_program(command);
  if (exit_code == kCannotRun)
    throw EnvironmentError(
        "cannot run python3; install python3, python3-matplotlib, python3-pandas");
  constexpr int kKnown[] = {kDone, kWrongInput, kEnvironmentFailed, kInterrupted};
  for (const int known : kKnown) {
    if (exit_code == known) return known;
  }
  return kOurBug;
}

}  // namespace cohort
