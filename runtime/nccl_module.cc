#include "runtime/nccl_module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "policies/errors.h"

namespace cohort {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "cohort_nccl.so";
constexpr const char* kVariable = "COHORT_NCCL_MODULE";

// Beside the program, where the build leaves it, where it is installed.
std::vector<std::string> usual_places() {
  std::error_code unreadable;
  const auto folder = fs::read_symlink("/proc/self/exe", unreadable).parent_path();
  return {folder / kFile, folder.parent_path() / "runtime" / "nccl" / kFile,
          fs::path(COHORT_MODULE_FOLDER) / kFile};
}

std::string find_module() {
  if (const char* named = std::getenv(kVariable); named != nullptr && *named != '\0') return named;
  const auto places = usual_places();
  for (const auto& place : places) {
    if (fs::exists(place)) return place;
  }
  throw EnvironmentError(fmt::format(
      "the nccl backend is not here: looked for {}. It is built where CUDA and NCCL are found "
      "(meson setup -Dnccl=enabled -Droot_of_cuda=... -Droot_of_nccl=... says what is missing); {} "
      "names "
      "one elsewhere",
      fmt::join(places, ", "), kVariable));
}

void* open_module(const std::string& path) {
  // A path without a slash would be searched for along the library path.
  const auto file = fs::absolute(path);
  if (!fs::exists(file)) {
    throw EnvironmentError(fmt::format("the nccl backend {} does not exist", file.string()));
  }
  void* module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    throw EnvironmentError(
        fmt::format("the nccl backend {} cannot be loaded: {}", file.string(), ::dlerror()));
  }
  return module;
}

}  // namespace

std::unique_ptr<Backend> load_nccl_backend(const std::string& module, const NcclOptions& options) {
  const auto path = module.empty() ? find_module() : module;
  // Never closed: objects of the module live as long as the process.
  const auto make =
      reinterpret_cast<MakeNcclBackend>(::dlsym(open_module(path), "cohort_make_nccl_backend"));
  if (make == nullptr) {
    throw EnvironmentError(
        fmt::format("{} is no nccl backend: it lacks cohort_make_nccl_backend", path));
  }
  return std::unique_ptr<Backend>(make(options));
}

}  // namespace cohort
