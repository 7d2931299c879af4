#include "runtime/local_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <thread>

#include "policies/errors.h"

extern char** environ;

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGrace{2'000};  // between SIGTERM and SIGKILL
constexpr std::chrono::milliseconds kPoll{10};

std::string hex(const Secret& secret) {
  std::string text;
  for (const auto byte : secret) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

// Ready-made for exec: nothing is allocated between fork and exec.
class CStrings {
 public:
  explicit CStrings(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (auto& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment(std::uint32_t rank, const std::string& server,
                                     const Secret& secret) {
  const std::map<std::string, std::string, std::less<>> own{
      {"COHORT_SERVER", server},
      {"COHORT_SECRET", hex(secret)},
      {"COHORT_RANK", std::to_string(rank)},
      {"COHORT_LOCAL_RANK", std::to_string(rank)},
  };
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view inherited(*entry);
    if (!own.contains(inherited.substr(0, inherited.find('=')))) result.emplace_back(inherited);
  }
  for (const auto& [name, value] : own) result.push_back(fmt::format("{}={}", name, value));
  return result;
}

// In the child. A group of its own: Ctrl-C on the terminal reaches the parent alone, which ends the
// ranks in order.
[[noreturn]] void become(const CStrings& command, const CStrings& variables, pid_t parent,
                         int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before the line above
  ::setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_RDONLY);
  if (nowhere >= 0) ::dup2(nowhere, STDIN_FILENO);
  ::execve(command.get()[0], command.get(), variables.get());
  const int reason = errno;
  static_cast<void>(!::write(report, &reason, sizeof reason));
  ::_exit(1);
}

pid_t start(const std::vector<std::string>& command, const std::vector<std::string>& variables) {
  const CStrings arguments(command);
  const CStrings values(variables);
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("cannot start a rank: {}", std::strerror(errno)));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(arguments, values, parent, report[1]);
  int reason = child < 0 ? errno : 0;
  ::close(report[1]);
  if (child > 0 && ::read(report[0], &reason, sizeof reason) > 0) ::waitpid(child, nullptr, 0);
  ::close(report[0]);
  if (reason != 0)
    throw EnvironmentError(fmt::format("cannot start {}: {}", command[0], std::strerror(reason)));
  return child;
}

// `status`: as of waitpid().
std::string sentence(std::size_t rank, int status) {
  if (!WIFSIGNALED(status))
    return fmt::format("rank {} ended with exit code {}", rank, WEXITSTATUS(status));
  return fmt::format("rank {} was ended by signal {} ({})", rank, WTERMSIG(status),
                     ::strsignal(WTERMSIG(status)));
}

}  // namespace

struct LocalRanks::State {
  struct Process {
    pid_t id = 0;
    std::optional<int> status;
    bool overdue = false;  // ended by us
  };
  std::vector<Process> processes;

  ~State() { end_all(); }

  // Reaps what has ended; whether all have.
  bool reap() {
    bool all = true;
    for (auto& process : processes) {
      int status = 0;
      if (!process.status && ::waitpid(process.id, &status, WNOHANG) == process.id)
        process.status = status;
      all = all && process.status;
    }
    return all;
  }
  bool reap_within(std::chrono::milliseconds limit) {
    for (const auto end = Clock::now() + limit; !reap(); std::this_thread::sleep_for(kPoll))
      if (Clock::now() >= end) return false;
    return true;
  }
  void send(int signal) const {
    for (const auto& process : processes)
      if (!process.status) ::kill(process.id, signal);
  }
  void end_all() {
    if (reap()) return;
    for (auto& process : processes) process.overdue = !process.status;
    send(SIGTERM);
    send(SIGCONT);  // a stopped one takes no other signal
    if (reap_within(kGrace)) return;
    send(SIGKILL);
    reap_within(kGrace);
  }
};

LocalRanks::LocalRanks(const std::vector<std::string>& command, std::uint32_t ranks,
                       const std::string& server, const Secret& secret)
    : state_(std::make_unique<State>()) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    state_->processes.push_back({start(command, environment(rank, server, secret)), {}, false});
}

LocalRanks::~LocalRanks() = default;

std::string LocalRanks::first_end() {
  state_->reap();
  for (std::size_t rank = 0; rank < state_->processes.size(); ++rank)
    if (const auto& status = state_->processes[rank].status) return sentence(rank, *status);
  return "";
}

std::vector<std::string> LocalRanks::join(std::chrono::milliseconds limit) {
  if (!state_->reap_within(limit)) state_->end_all();
  std::vector<std::string> complaints;
  for (std::size_t rank = 0; rank < state_->processes.size(); ++rank) {
    const auto& [id, status, overdue] = state_->processes[rank];
    if (overdue || !status) {
      complaints.push_back(
          fmt::format("rank {} did not end within {} ms and was ended", rank, limit.count()));
    } else if (*status != 0) {
      complaints.push_back(sentence(rank, *status));
    }
  }
  return complaints;
}

}  // namespace cohort
