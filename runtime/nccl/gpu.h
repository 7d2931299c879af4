// The GPU of this process, and streams and events on it as owners of their handles.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "runtime/nccl/library_errors.h"

namespace cohort {

// The current device belongs to a thread: every public function of the backend calls use() first,
// because compute and sync thread both come in.
class Gpu {
 public:
  // Picks `local_rank` modulo the number of GPUs. Threads that wait for it sleep. Throws
  // EnvironmentError, also when there is none.
  Gpu(std::uint32_t rank, std::uint32_t local_rank);

  void use() const;
  [[nodiscard]] int index() const { return index_; }
  // Of this host.
  [[nodiscard]] int count() const { return count_; }
  // Names it among all GPUs of its host: bus id and UUID.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Site& site() const { return site_; }

 private:
  int count_ = 0;
  int index_ = 0;
  std::string name_;
  Site site_;
};

class GpuEvent {
 public:
  enum class Use : std::uint8_t { Order, Time };

  // Not yet recorded. Waiting for it sleeps. `gpu` outlives this.
  GpuEvent(const Gpu& gpu, Use use);
  ~GpuEvent();
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;

  // Whether what it was recorded after is over. Throws SyncFailure, which says what was done.
  [[nodiscard]] bool reached(const std::string& doing) const;
  void wait() const;
  [[nodiscard]] float milliseconds_since(const GpuEvent& earlier) const;
  [[nodiscard]] cudaEvent_t handle() const { return handle_; }

 private:
  const Gpu& gpu_;
  cudaEvent_t handle_ = nullptr;
};

class GpuStream {
 public:
  // Side by side with all other streams. `gpu` outlives this.
  explicit GpuStream(const Gpu& gpu);
  ~GpuStream();
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;

  void record(const GpuEvent& event) const;
  // What is queued from here on begins after what `other` holds now.
  void follow(const GpuStream& other) const;
  void wait() const;
  [[nodiscard]] cudaStream_t handle() const { return handle_; }

 private:
  const Gpu& gpu_;
  cudaStream_t handle_ = nullptr;
};

}  // namespace cohort
