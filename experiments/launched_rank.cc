#include "experiments/launched_rank.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace cohort {
namespace {

std::optional<std::uint32_t> number(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  std::uint32_t read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return read;
}

struct Launcher {
  const char* rank;
  const char* ranks;
  const char* ranks_here;  // on this host
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr},
};

}  // namespace

std::optional<LaunchedRank> launched_rank() {
  for (const auto& launcher : kLaunchers) {
    const auto rank = number(launcher.rank);
    const auto ranks = number(launcher.ranks);
    if (!rank || !ranks || *ranks < 2 || *rank >= *ranks) continue;
    const bool one_host = launcher.ranks_here != nullptr && number(launcher.ranks_here) == ranks;
    return LaunchedRank{.rank = *rank, .ranks = *ranks, .one_host = one_host};
  }
  return std::nullopt;
}

}  // namespace cohort
