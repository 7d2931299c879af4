#include "runtime/mpi/start_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

namespace cohort {
namespace {

// For the one that speaks, before the launcher hears of the first end and ends all.
constexpr std::chrono::milliseconds kSilentFor{300};

std::uint32_t number(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? 0 : static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
}

std::filesystem::path folder() {
  const char* value = std::getenv("PMIX_SERVER_TMPDIR");
  return value == nullptr ? "" : value;
}

}  // namespace

StartWatch::StartWatch(std::chrono::milliseconds limit)
    : limit_(limit),
      folder_(folder()),
      own_(number("OMPI_COMM_WORLD_LOCAL_RANK")),
      here_(number("OMPI_COMM_WORLD_LOCAL_SIZE")),
      everywhere_(number("OMPI_COMM_WORLD_SIZE")) {
  if (!folder_.empty()) std::ofstream(mark(own_)) << "";
  watchdog_.arm(limit, [this] { return complaint(); });
}

StartWatch::~StartWatch() {
  watchdog_.disarm();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove(mark(own_), ignored);
}

std::filesystem::path StartWatch::mark(std::uint32_t local_rank) const {
  return folder_ / fmt::format("cohort-rank-{}", local_rank);
}

std::string StartWatch::complaint() const {
  std::vector<std::uint32_t> present;
  std::vector<std::uint32_t> missing;
  std::error_code ignored;
  for (std::uint32_t rank = 0; rank < here_; ++rank)
    (std::filesystem::exists(mark(rank), ignored) ? present : missing).push_back(rank);
  if (!present.empty() && present.front() != own_) {
    std::this_thread::sleep_for(kSilentFor);
    return "";
  }
  auto text = fmt::format("cohort: not every rank of the job started within {} ms", limit_.count());
  if (!missing.empty())
    text += fmt::format("; missing{}: {} {}", here_ < everywhere_ ? ", counted on this host" : "",
                        missing.size() == 1 ? "rank" : "ranks", fmt::join(missing, ", "));
  return text;
}

}  // namespace cohort
