// Transport by NCCL on one stream: one order of launches, the order of starts, at every rank.
//
// Group means run on the communicators of their members, all point-to-point transfers of a run on
// one communicator of all its members. What is aborted (an unfinished request destroyed, an
// asynchronous error) takes its communicator along: later uses fail with SyncFailure until it is
// made anew, under another id or by connect().
#pragma once

#include <chrono>
#include <map>

#include "runtime/nccl/communicator.h"
#include "runtime/nccl/device_vectors.h"
#include "runtime/transport.h"

namespace cohort {

class NcclTransport : public Transport {
 public:
  struct Limits {
    // A communicator that does not stand by then, or is not left by then, is aborted. Losses are
    // noticed earlier and elsewhere; this bounds what nobody notices.
    std::chrono::seconds making{60};
    std::chrono::seconds leaving{2};  // aborting then disturbs nobody: it is not used any more
  };

  // Launches follow what is queued on `vectors`. Both outlive this.
  NcclTransport(const Gpu& gpu, const GpuStream& vectors, Limits limits);
  ~NcclTransport() override;  // leaves all communicators; waits at most Limits::leaving

  [[nodiscard]] std::vector<std::uint8_t> rendezvous() override;
  // Waits until it stands. Throws EnvironmentError after Limits::making, and on an error.
  void connect(std::span<const std::uint32_t> ranks,
               std::span<const std::uint8_t> rendezvous) override;
  [[nodiscard]] std::unique_ptr<Request> create(CommunicatorId id,
                                                std::span<const std::uint32_t> ranks,
                                                std::span<const std::uint8_t> rendezvous) override;
  void destroy(CommunicatorId id) override;
  [[nodiscard]] std::unique_ptr<Request> all_reduce(CommunicatorId id, const float* from, float* to,
                                                    std::size_t count) override;
  [[nodiscard]] std::unique_ptr<Request> exchange(SyncId sync,
                                                  std::span<const Transfer> transfers) override;
  [[nodiscard]] bool ordered() const override { return true; }
  // With one rank to a GPU: each needs a core for its sync and one for its compute thread.
  [[nodiscard]] bool crowded() const override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Leaving {
    std::shared_ptr<Communicator> communicator;
    Clock::time_point deadline;
  };

  void leave(std::shared_ptr<Communicator> communicator);
  void drop_those_left();

  const Gpu& gpu_;
  const GpuStream& vectors_;
  Limits limits_;
  GpuStream stream_;
  // Shared with the requests under way: one may outlive its entry here.
  std::map<CommunicatorId, std::shared_ptr<Communicator>> communicators_;
  std::shared_ptr<Communicator> all_;  // of the run; null before connect()
  std::vector<Leaving> leaving_;
};

}  // namespace cohort
