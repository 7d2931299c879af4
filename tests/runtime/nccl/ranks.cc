#include "tests/runtime/nccl/ranks.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>

#include "runtime/nccl_module.h"

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLimit{60 * COHORT_PATIENCE};

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

// In the child: its exit code, and its complaint through the pipe.
int serve(const Job& job, std::uint32_t rank, const std::function<void(const Rank&)>& body,
          Blackboard& board, int complaints) {
  try {
    const auto backend = load_nccl_backend(
        job.module, {.rank = rank, .local_rank = rank, .share_gpus = job.share_gpus});
    body({rank, job.ranks, *backend, board});
    return 0;
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return ::write(complaints, what.data(), what.size()) < 0 ? 2 : 1;
  }
}

struct Child {
  std::uint32_t rank = 0;
  pid_t process = 0;
  int complaints = 0;
};

Child start(const Job& job, std::uint32_t rank, const std::function<void(const Rank&)>& body,
            Blackboard& board) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const auto process = ::fork();
  if (process != 0) {
    ::close(ends[1]);
    return {rank, process, ends[0]};
  }
  ::setenv("COHORT_RANK", std::to_string(rank).c_str(), 1);
  for (const auto& [name, value] : job.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::exit(serve(job, rank, body, board, ends[1]));
}

// "" when it ended well.
std::string outcome(const Child& child, Clock::time_point deadline) {
  int status = 0;
  while (::waitpid(child.process, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) ::kill(child.process, SIGKILL);
    nap();
  }
  std::string text(1000, '\0');
  text.resize(static_cast<std::size_t>(
      std::max<ssize_t>(0, ::read(child.complaints, text.data(), text.size()))));
  ::close(child.complaints);
  if (WIFSIGNALED(status)) text += "ended by signal " + std::to_string(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && text.empty()) text = "exit code";
  return text.empty() ? "" : "rank " + std::to_string(child.rank) + ": " + text + "\n";
}

}  // namespace

struct Blackboard::Note {
  std::atomic<std::size_t> size;
  std::uint8_t bytes[128];
};

Blackboard::Blackboard()
    : notes_(static_cast<Note*>(::mmap(nullptr, kPlaces * sizeof(Note), PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

Blackboard::~Blackboard() { ::munmap(notes_, kPlaces * sizeof(Note)); }

void Blackboard::write(std::size_t place, const std::vector<std::uint8_t>& bytes) {
  require(place < kPlaces && notes_[place].size == 0, "a place of the blackboard is used twice");
  std::memcpy(notes_[place].bytes, bytes.data(), bytes.size());
  notes_[place].size = bytes.size();
}

std::vector<std::uint8_t> Blackboard::read(std::size_t place) const {
  const auto& note = notes_[place];
  const auto deadline = Clock::now() + kLimit;
  while (note.size == 0 && Clock::now() < deadline) nap();
  return {note.bytes, note.bytes + note.size};
}

std::unique_ptr<Request> Rank::create(std::uint32_t id, std::size_t place,
                                      const std::vector<std::uint32_t>& members) const {
  if (members.front() == rank) board.write(place, transport().rendezvous());
  return transport().create(CommunicatorId{id}, members, board.read(place));
}

void Rank::connect_all(std::size_t place) const {
  std::vector<std::uint32_t> members(ranks);
  std::iota(members.begin(), members.end(), 0U);
  if (rank == 0) board.write(place, transport().rendezvous());
  transport().connect(members, board.read(place));
}

std::string run_ranks(const Job& job, Blackboard& board,
                      const std::function<void(const Rank&)>& body,
                      const std::function<void(Blackboard&)>& meanwhile) {
  std::vector<Child> children;
  for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
    children.push_back(start(job, rank, body, board));
  }
  if (meanwhile) meanwhile(board);
  const auto deadline = Clock::now() + kLimit;
  std::string complaints;
  for (const auto& child : children) complaints += outcome(child, deadline);
  return complaints;
}

std::string run_ranks(std::uint32_t ranks, const std::function<void(const Rank&)>& body,
                      const Environment& environment,
                      const std::function<void(Blackboard&)>& meanwhile) {
  Blackboard board;
  return run_ranks({.ranks = ranks, .environment = environment, .module = stand_in_module()}, board,
                   body, meanwhile);
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

void finish(Request& request, int seconds) {
  const auto deadline = Clock::now() + std::chrono::seconds(seconds * COHORT_PATIENCE);
  while (!request.test()) {
    require(Clock::now() < deadline, "not over after " + std::to_string(seconds) + " s");
    nap();
  }
}

std::string failure_of(Request& request, int seconds) {
  try {
    finish(request, seconds);
  } catch (const SyncFailure& failure) {
    return failure.what();
  }
  throw std::runtime_error("no failure");
}

std::string stand_in_module() { return COHORT_STAND_IN_MODULE; }

}  // namespace cohort
