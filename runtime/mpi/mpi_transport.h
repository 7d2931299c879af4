// Transport by MPI: communicators of members only, point to point on one communicator per run.
//
// Where ranks have a core each an all-reduce is MPI_Allreduce, with the algorithms that the library
// is tuned for: it waits inside, so nobody outlives a failure of it. Where they have not
// ("crowded"), nothing may wait inside MPI, which spins: it is MPI_Iallreduce, which is polled;
// only the making of a communicator, which is short, waits. All ranks of a job must be told the
// same.
//
// MPI cannot take back a collective: of an unfinished one the request, its communicator and its
// buffers stay allocated until the process ends.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/transport.h"

namespace cohort {

class MpiTransport : public Transport {
 public:
  struct Options {
    bool crowded = true;
    std::size_t longest_call = std::size_t{1} << 30;  // entries; MPI counts in int
  };

  // MPI is initialised, and lives longer than this.
  explicit MpiTransport(const Options& options);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  [[nodiscard]] std::vector<std::uint8_t> rendezvous() override { return {}; }
  // Collective over `ranks`. Leaves the communicators of the last run.
  void connect(std::span<const std::uint32_t> ranks,
               std::span<const std::uint8_t> rendezvous) override;
  // Collective over `ranks`; has waited for them when it returns.
  [[nodiscard]] std::unique_ptr<Request> create(CommunicatorId id,
                                                std::span<const std::uint32_t> ranks,
                                                std::span<const std::uint8_t> rendezvous) override;
  void destroy(CommunicatorId id) override;
  // Throws EnvironmentError unless crowded.
  [[nodiscard]] std::unique_ptr<Request> all_reduce(CommunicatorId id, const float* from, float* to,
                                                    std::size_t count) override;
  [[nodiscard]] std::unique_ptr<Request> exchange(SyncId sync,
                                                  std::span<const Transfer> transfers) override;
  [[nodiscard]] bool ordered() const override { return false; }
  [[nodiscard]] bool outlives_failure() const override { return options_.crowded; }
  [[nodiscard]] bool crowded() const override { return options_.crowded; }

  // For measurements beside it. Throws ContractError when there is none of that id.
  [[nodiscard]] MPI_Comm communicator(CommunicatorId id) const;

 private:
  [[nodiscard]] MPI_Comm make(std::span<const std::uint32_t> ranks, int tag) const;
  void leave(MPI_Comm communicator) const;
  void leave_all();

  Options options_;
  int largest_tag_ = 0;
  std::uint64_t connections_ = 0;  // the same at all members
  MPI_Group world_ = MPI_GROUP_NULL;
  std::map<CommunicatorId, MPI_Comm> communicators_;
  std::shared_ptr<bool> collective_left_;  // whether one was left unfinished; requests know it
};

}  // namespace cohort
