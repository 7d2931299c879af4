#include "cli/spec_arguments.h"

#include <algorithm>
#include <thread>

namespace cohort {

void SpecArguments::add_to(CLI::App& command) {
  constexpr unsigned kMostJobs = 1024;
  jobs = std::max(1U, std::thread::hardware_concurrency());
  command.add_option("spec", spec, "the spec: a JSON file, comments allowed")->required();
  command
      .add_option("--set", sets, "POINTER=VALUE, such as /workload/compute=50ms; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--jobs,-j", jobs, "threads; default: one per CPU")
      ->check(CLI::Range(1U, kMostJobs));
}

}  // namespace cohort
