// Test double: ranks as threads (or as turns of one thread) of one process. Members of a fabric see
// each other's contributions as copies in its memory; everything of Transport's contract, nothing
// of its speed.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/backend.h"
#include "runtime/host_vectors.h"

namespace cohort {

// What the ranks of a job share.
class ThreadFabric {
 public:
  struct Options {
    bool ordered = false;
    bool rendezvous = false;  // communicators need bytes that one member drew
    bool outlives_failure = true;
  };

  explicit ThreadFabric(const Options& options) : options_(options) {}

  // From now on every all-reduce that is not over fails.
  void break_all_reduces();

  // A rank's number of connect() so far, and an id within that run.
  using Communicator = std::pair<std::uint64_t, CommunicatorId>;
  // Ranks of each communicator made, in their order.
  [[nodiscard]] std::map<Communicator, std::vector<std::uint32_t>> communicators();

 private:
  friend class ThreadTransport;
  using Round = std::pair<Communicator, std::uint64_t>;
  using Way = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, SyncId>;  // run, from, to

  std::mutex mutex_;
  Options options_;
  bool broken_ = false;
  std::uint8_t drawn_ = 0;
  std::map<Communicator, std::vector<std::uint32_t>> ranks_;
  std::map<Communicator, std::vector<std::uint8_t>> rendezvous_;
  std::map<Communicator, std::set<std::uint32_t>> present_;
  std::map<Round, std::map<std::uint32_t, std::vector<float>>> given_;
  std::map<Way, std::vector<float>> sent_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(ThreadFabric& fabric, std::uint32_t rank) : fabric_(fabric), rank_(rank) {}

  [[nodiscard]] std::vector<std::uint8_t> rendezvous() override;
  void connect(std::span<const std::uint32_t> ranks,
               std::span<const std::uint8_t> rendezvous) override;
  [[nodiscard]] std::unique_ptr<Request> create(CommunicatorId id,
                                                std::span<const std::uint32_t> ranks,
                                                std::span<const std::uint8_t> rendezvous) override;
  void destroy(CommunicatorId id) override { held_.erase(id); }
  [[nodiscard]] std::unique_ptr<Request> all_reduce(CommunicatorId id, const float* from, float* to,
                                                    std::size_t count) override;
  [[nodiscard]] std::unique_ptr<Request> exchange(SyncId sync,
                                                  std::span<const Transfer> transfers) override;
  [[nodiscard]] bool ordered() const override { return fabric_.options_.ordered; }
  [[nodiscard]] bool outlives_failure() const override { return fabric_.options_.outlives_failure; }

  [[nodiscard]] const std::map<CommunicatorId, std::uint64_t>& held() const { return held_; }

 private:
  ThreadFabric& fabric_;
  std::uint32_t rank_;
  std::uint64_t run_ = 0;
  std::map<CommunicatorId, std::uint64_t> held_;  // and how many all-reduces each has seen
};

// A worker's place in a fabric, for serve_as_rank().
class ThreadBackend : public Backend {
 public:
  ThreadBackend(ThreadFabric& fabric, std::uint32_t rank) : transport_(fabric, rank) {}

  [[nodiscard]] std::string name() const override { return "threads"; }
  [[nodiscard]] std::string device() const override { return ""; }
  [[nodiscard]] VectorUnit& vectors() override { return vectors_; }
  [[nodiscard]] Transport& transport() override { return transport_; }
  [[nodiscard]] std::unique_ptr<LocalStep> emulated_step() override;

 private:
  HostVectors vectors_;
  ThreadTransport transport_;
};

}  // namespace cohort
