#include "runtime/mpi/meeting_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace cohort {
namespace {

// For the one that speaks, before the launcher hears of the first end and ends all.
constexpr std::chrono::milliseconds kSilentFor{300};

// Of Open MPI's launcher, else of Slurm's. 0: neither says, or hosts differ ("4,3" ranks on them).
std::uint32_t number(const char* of_mpirun, const char* of_srun) {
  const char* value = std::getenv(of_mpirun);
  if (value == nullptr) value = std::getenv(of_srun);
  if (value == nullptr || std::string_view(value).find(',') != std::string_view::npos) return 0;
  return static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
}

std::filesystem::path folder() {
  const char* value = std::getenv("PMIX_SERVER_TMPDIR");
  return value == nullptr ? "" : value;
}

// 'T' of a stopped process, see proc(5); 0 when there is none.
char state_of(const std::string& process) {
  std::string line;
  std::getline(std::ifstream("/proc/" + process + "/stat"), line);
  const auto name_ends = line.rfind(')');
  return name_ends + 2 < line.size() ? line[name_ends + 2] : '\0';
}

std::string listed(const char* what, const std::vector<std::uint32_t>& ranks, bool everywhere) {
  if (ranks.empty()) return "";
  return fmt::format("; {}{}: {} {}", what, everywhere ? "" : ", counted on this host",
                     ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace

MeetingWatch::MeetingWatch(Stage stage, std::chrono::milliseconds limit)
    : stage_(stage),
      limit_(limit),
      folder_(folder()),
      own_(number("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")),
      here_(number("OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE")),
      everywhere_(number("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")) {
  if (!folder_.empty()) std::ofstream(mark(own_)) << ::getpid();
  watchdog_.arm(limit, [this] { return complaint(); });
}

MeetingWatch::~MeetingWatch() { watchdog_.disarm(); }

std::filesystem::path MeetingWatch::mark(std::uint32_t local_rank) const {
  return folder_ /
         fmt::format("cohort-{}-{}", stage_ == Stage::Start ? "start" : "end", local_rank);
}

bool MeetingWatch::stopped(std::uint32_t local_rank) const {
  std::string process;
  std::ifstream(mark(local_rank)) >> process;
  return state_of(process) == 'T';
}

std::string MeetingWatch::complaint() const {
  std::vector<std::uint32_t> waiting, missing, halted;
  std::error_code ignored;
  for (std::uint32_t rank = 0; rank < here_; ++rank) {
    const bool present = std::filesystem::exists(mark(rank), ignored);
    (!present ? missing : stopped(rank) ? halted : waiting).push_back(rank);
  }
  if (!waiting.empty() && waiting.front() != own_) {
    std::this_thread::sleep_for(kSilentFor);
    return "";
  }
  const bool all_here = here_ == everywhere_;
  return fmt::format("cohort: not every rank of the job {} within {} ms{}{}",
                     stage_ == Stage::Start ? "started" : "came to its end", limit_.count(),
                     listed("missing", missing, all_here), listed("stopped", halted, all_here));
}

}  // namespace cohort
