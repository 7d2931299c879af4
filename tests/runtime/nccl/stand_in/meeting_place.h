// TEST DOUBLE. Memory that the ranks of one communicator share, and how they move values through
// it.
//
// It has no name: whoever draws the unique id makes an anonymous memory file, and the others open
// it through that process's entry in /proc. So nothing is left behind, however a process ends. A
// rank that died is one that never comes: the others wait until they abort.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace stand_in {

inline constexpr int kMostRanks = 16;
inline constexpr std::size_t kChunk = std::size_t{1} << 15;  // floats

// The wait was ended by an abort.
class Aborted : public std::runtime_error {
 public:
  Aborted() : std::runtime_error("aborted") {}
};

// One side of a point-to-point transfer.
struct Side {
  bool send = false;
  int peer = 0;
  float* entries = nullptr;
  std::size_t count = 0;
};

class MeetingPlace {
 public:
  // Text that leads others to a new place; it stands until this process has met() there.
  [[nodiscard]] static std::string found();

  // Throws std::runtime_error when there is none, or its founder is gone. `abort` ends every wait
  // below with Aborted; it outlives this.
  MeetingPlace(const std::string& id, int rank, int ranks, const std::atomic<bool>& abort);
  ~MeetingPlace();
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;

  // Waits for all ranks. `gpu`: equal at two ranks that share one.
  void meet(std::uint64_t gpu);
  // Once met: whether two ranks share a GPU.
  [[nodiscard]] bool shares_gpu() const;
  void sum(const float* from, float* to, std::size_t count);
  // All at once.
  void transfer(std::span<Side> sides);
  // Waits until all ranks have said so.
  void leave();

 private:
  struct Memory;

  template <class Condition>
  void wait_until(Condition condition) const;
  void barrier();
  bool progress(Side& side);

  Memory* memory_ = nullptr;
  std::string id_;
  int rank_;
  int ranks_;
  const std::atomic<bool>& abort_;
};

}  // namespace stand_in
