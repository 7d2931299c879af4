#include "runtime/mpi_job.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "runtime/emulated_step.h"
#include "runtime/host_vectors.h"
#include "runtime/mpi/mpi_call.h"
#include "runtime/mpi/mpi_transport.h"
#include "runtime/mpi/start_watch.h"

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

Name host_name() {
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
  place.kernel = host_name();
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
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  bool abandoned = false;
  std::optional<MpiBackend> backend;
};

bool MpiJob::available() { return true; }

MpiJob::MpiJob(std::chrono::milliseconds start_limit) : state_(std::make_unique<State>()) {
  const StartWatch watch(start_limit);
  initialise();
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  state_->rank = static_cast<std::uint32_t>(rank);
  state_->size = static_cast<std::uint32_t>(size);
  state_->backend.emplace(is_crowded(gather(own_place(), state_->size)));
}

MpiJob::~MpiJob() {
  if (state_->abandoned) {
    static_cast<void>(state_.release());
    return;
  }
  state_->backend.reset();
  MPI_Finalize();
}

std::uint32_t MpiJob::rank() const { return state_->rank; }

std::uint32_t MpiJob::size() const { return state_->size; }

std::vector<std::string> MpiJob::hosts() {
  std::vector<std::string> hosts;
  for (const auto& name : gather(host_name(), state_->size)) hosts.emplace_back(name.data());
  return hosts;
}

std::string MpiJob::broadcast(const std::string& text) {
  auto length = static_cast<std::uint64_t>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
  std::string all = text;
  all.resize(length);
  check_mpi(MPI_Bcast(all.data(), static_cast<int>(length), MPI_BYTE, 0, MPI_COMM_WORLD),
            "MPI_Bcast");
  return all;
}

Backend& MpiJob::backend() { return *state_->backend; }

void MpiJob::abandon() { state_->abandoned = true; }

}  // namespace cohort
