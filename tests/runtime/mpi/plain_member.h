// A worker without a group generator: carries out the starts that a test gives it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runtime/host_vectors.h"
#include "runtime/live_operations.h"
#include "tests/runtime/mpi/under_mpi.h"

namespace cohort {

class PlainMember {
 public:
  // Collective over all ranks of the job, each a worker.
  explicit PlainMember(std::uint64_t entries)
      : replica(prepare_of(entries), vectors_),
        live_(replica, mpi_job().backend().transport(), false,
              {.now = [] { return Time{}; },
               .send = [this](const Message& message) { note(message); },
               .await_snapshots = [] {}}) {
    mpi_job().backend().transport().connect(replica.prepare().ranks, {});
  }
  // Collective.
  ~PlainMember() {
    live_.clear();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  PlainMember(const PlainMember&) = delete;
  PlainMember& operator=(const PlainMember&) = delete;

  void carry_out(const message::Start& start) {
    live_.start(start, Time{});
    while (!live_.empty()) {
      if (!live_.poll()) std::this_thread::yield();
    }
  }

  // A blocking group mean with equal weights.
  [[nodiscard]] static message::Start mean_of(const std::vector<std::uint32_t>& workers,
                                              std::uint64_t sync, CommunicatorId communicator,
                                              bool create) {
    message::Start start{.sync = SyncId{sync},
                         .kind = SyncKind::GroupMean,
                         .step = 0,
                         .members = {},
                         .communicator = communicator,
                         .create = create};
    for (const auto worker : workers) {
      start.members.push_back(
          {WorkerId{worker}, Role::Blocking, 1.0 / static_cast<double>(workers.size())});
    }
    return start;
  }

 private:
  static message::Prepare prepare_of(std::uint64_t entries) {
    message::Prepare prepare;
    prepare.member = mpi_job().rank();
    prepare.workers = mpi_job().size();
    prepare.ranks.resize(prepare.workers);
    std::iota(prepare.ranks.begin(), prepare.ranks.end(), 0U);
    prepare.entries = entries;
    return prepare;
  }
  void note(const Message& message) {
    if (std::holds_alternative<message::Done>(message)) ++done;
    if (const auto* failed = std::get_if<message::Failed>(&message)) failure = failed->reason;
  }

  HostVectors vectors_;

 public:
  Replica replica;
  std::uint64_t done = 0;
  std::string failure;

 private:
  LiveOperations live_;
};

}  // namespace cohort
