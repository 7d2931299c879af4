// What a group mean is measured against: ncclAllReduce and the 1/g pass called bare, on a
// communicator of its own that blocks, as a program would that does nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cohort {

class BareMean {
 public:
  [[nodiscard]] static std::vector<std::uint8_t> rendezvous();

  // On the calling thread's current GPU, together with the others. Throws std::runtime_error.
  BareMean(std::uint32_t rank, std::uint32_t ranks, const std::vector<std::uint8_t>& rendezvous);
  ~BareMean();

  // In place; waits until it is over.
  void run(float* entries, std::size_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
