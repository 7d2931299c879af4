#include "cli/doctor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "cli/exit_codes.h"
#include "cli/program.h"
#include "cli/row_table.h"
#include "cli/run.h"
#include "experiments/version.h"

namespace cohort {
namespace {

struct Finding {
  std::string what;
  bool there = false;
  std::string use;
  std::string remedy;
};

bool has_library(const char* name) {
  void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return false;
  ::dlclose(library);
  return true;
}

// Tries in a child: a namespace cannot be left again.
bool can_make_network_namespaces() {
  const auto child = ::fork();
  if (child < 0) return false;
  if (child == 0) ::_exit(::unshare(CLONE_NEWNET) == 0 ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<Finding> examine() {
  const auto python = python_with_plots();
  return {
      {"python3", has_program("python3"), "figures", "apt install python3"},
      {"matplotlib", has_python_module(python, "matplotlib"), "figures",
       "apt install python3-matplotlib"},
      {"pandas", has_python_module(python, "pandas"), "figures", "apt install python3-pandas"},
      {"pytest", has_python_module(python, "pytest"), "tests of the command line",
       "apt install python3-pytest"},
      {"SimGrid", has_library("libsimgrid.so"), "comparison of simulated times",
       "apt install libsimgrid-dev"},
      {"real runs", can_run(), "cohort run", "build with -Druntime=enabled"},
      {"Open MPI in this build", can_run(BackendKind::Mpi), "cohort run --backend mpi",
       "apt install libopenmpi-dev, then build again"},
      {"mpirun", has_program("mpirun"), "starting ranks of cohort run --backend mpi",
       "apt install openmpi-bin"},
      {"CUDA driver", has_library("libcuda.so.1"), "cohort run --backend nccl",
       "the vendor's GPU driver"},
      {"NCCL", has_library("libnccl.so.2"), "cohort run --backend nccl", "apt install libnccl2"},
      {"nccl backend, with a GPU", can_run(BackendKind::Nccl), "cohort run --backend nccl",
       "build where CUDA and NCCL are (meson option root_of_cuda)"},
      {"network namespaces", can_make_network_namespaces(),
       "runtime/testbed: a cluster on one machine", "run as root"},
      {"iproute2", has_program("ip"), "runtime/testbed", "apt install iproute2"},
  };
}

}  // namespace

int examine_machine() {
  fmt::print("cohort {}, built as C++20 by compiler {}\n", version(), __VERSION__);
  fmt::print(
      "{} CPUs: simulate and sweep run as many cells at once; a real run times well up to as many "
      "ranks\n\n",
      std::thread::hardware_concurrency());
  std::vector<std::vector<std::string>> lines{{"what", "here", "for", "to get it"}};
  for (const auto& finding : examine()) {
    lines.push_back({finding.what, finding.there ? "yes" : "no", finding.use,
                     finding.there ? "" : finding.remedy});
  }
  fmt::print("{}", text_table(lines, {true, true, true, true}));
  return kDone;
}

}  // namespace cohort
