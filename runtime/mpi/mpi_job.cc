#include "runtime/mpi_job.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "runtime/emulated_step.h"
#include "runtime/host_vectors.h"
#include "runtime/mpi/meeting_watch.h"
#include "runtime/mpi/mpi_call.h"
#include "runtime/mpi/mpi_transport.h"

namespace cohort {
namespace {

constexpr std::size_t kLongestName = 256;
using Name = std::array<char, kLongestName>;

class MpiBackend : public Backend {
 public:
  explicit MpiBackend(bool crowded) : transport_({.crowded = crowded}) {}

  std::string name() const override { return "mpi"; }
  std::string device() const override { return ""; }
  VectorUnit& vectors() override { return vectors_; }
  Transport& transport() override { return transport_; }
  std::unique_ptr<LocalStep> emulated_step() override { return make_sleeping_step(); }

 private:
  HostVectors vectors_;
  MpiTransport transport_;
};

// Defaults for Open MPI, unless the user chose. The cost model's ring; and no spinning against the
// others of an oversubscribed host in the calls that wait.
void choose_defaults() {
  constexpr int kKeep = 0;
  ::setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "1", kKeep);
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", kKeep);
}

void initialise() {
  choose_defaults();
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    throw EnvironmentError("MPI_Init_thread failed");
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (provided < MPI_THREAD_SERIALIZED) {
    throw EnvironmentError("this MPI does not allow calls from several threads, one at a time");
  }
}

Name padded_host_name() {
  Name name{};
  gethostname(name.data(), name.size() - 1);
  return name;
}

template <typename Value>
std::vector<Value> gather(const Value& value, std::uint32_t size) {
  std::vector<Value> all(size);
  check_mpi(MPI_Allgather(&value, sizeof value, MPI_BYTE, all.data(), sizeof value, MPI_BYTE,
                          MPI_COMM_WORLD),
            "MPI_Allgather");
  return all;
}

// Where a rank runs. Hosts of a testbed may have names of their own and yet share one kernel, hence
// its cores: the boot's id tells.
struct Place {
  Name kernel{};
  cpu_set_t cores{};
};

Place own_place() {
  Place place;
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  place.kernel = padded_host_name();
  if (!boot.empty()) {
    place.kernel.fill(0);
    boot.copy(place.kernel.data(), place.kernel.size() - 1);
  }
  CPU_ZERO(&place.cores);
  sched_getaffinity(0, sizeof place.cores, &place.cores);
  return place;
}

bool is_crowded(const std::vector<Place>& places) {
  struct Machine {
    int ranks = 0;
    cpu_set_t cores{};
  };
  std::map<Name, Machine> machines;
  for (const auto& place : places) {
    auto& machine = machines[place.kernel];
    ++machine.ranks;
    CPU_OR(&machine.cores, &machine.cores, &place.cores);
  }
  return std::any_of(machines.begin(), machines.end(), [](const auto& entry) {
    return entry.second.ranks > CPU_COUNT(&entry.second.cores);
  });
}

}  // namespace

struct MpiJob::State {
  explicit State(std::chrono::milliseconds limit) : start_limit(limit) {}

  std::chrono::milliseconds start_limit;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  bool left = false;
  std::vector<std::string> hosts;
  std::unique_ptr<Backend> backend;

  void look_around() {
    int own = 0;
    int all = 0;
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &own), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &all), "MPI_Comm_size");
    rank = static_cast<std::uint32_t>(own);
    size = static_cast<std::uint32_t>(all);
    for (const auto& name : gather(padded_host_name(), size)) hosts.emplace_back(name.data());
  }

  std::string broadcast(const std::string& text) const {
    auto length = static_cast<std::uint64_t>(text.size());
    check_mpi(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
    std::string all = text;
    all.resize(length);
    check_mpi(MPI_Bcast(all.data(), static_cast<int>(length), MPI_BYTE, 0, MPI_COMM_WORLD),
              "MPI_Bcast");
    return all;
  }

  void finalise() {
    left = true;
    backend.reset();
    MPI_Finalize();
  }
};

bool MpiJob::available() { return true; }

MpiJob::MpiJob(std::chrono::milliseconds start_limit)
    : state_(std::make_unique<State>(start_limit)) {
  const MeetingWatch watch(MeetingWatch::Stage::Start, start_limit);
  initialise();
  state_->look_around();
  state_->backend = std::make_unique<MpiBackend>(is_crowded(gather(own_place(), state_->size)));
}

MpiJob::~MpiJob() {
  if (state_->left) return;
  const MeetingWatch watch(MeetingWatch::Stage::End, kLeaveLimit);
  state_->finalise();
}

std::uint32_t MpiJob::rank() const { return state_->rank; }

std::uint32_t MpiJob::size() const { return state_->size; }

const std::vector<std::string>& MpiJob::hosts() const { return state_->hosts; }

std::string MpiJob::broadcast(const std::string& text) {
  const MeetingWatch watch(MeetingWatch::Stage::Start, state_->start_limit);
  return state_->broadcast(text);
}

int MpiJob::leave(int exit_code, std::chrono::milliseconds limit) {
  const MeetingWatch watch(MeetingWatch::Stage::End, limit);
  const auto agreed = state_->broadcast(std::to_string(exit_code));
  state_->finalise();
  return std::stoi(agreed);
}

Backend& MpiJob::backend() { return *state_->backend; }

void MpiJob::quit(int exit_code) {
  std::fflush(stdout);
  std::fflush(stderr);
  std::_Exit(exit_code);
}

}  // namespace cohort
