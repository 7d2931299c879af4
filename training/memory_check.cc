#include "training/memory_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include "policies/errors.h"

namespace cohort {

void require_memory(double bytes, const MemoryUse& use) {
  const auto there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (bytes <= there) return;
  throw InputError(use.where, fmt::format("{} need up to {:.1f} GB of memory; this machine has "
                                          "{:.1f} GB; allowed: {}",
                                          use.what, bytes / 1e9, there / 1e9, use.allowed));
}

void require_memory(double bytes) {
  require_memory(bytes, {.where = "/workload/training",
                         .what = "the parameters of all workers and their copies",
                         .allowed = "a smaller model or fewer workers"});
}

}  // namespace cohort
