// This process's part in an MPI job: initialisation, who runs where, and the `mpi` backend.
//
// Built with or without MPI (Meson chooses the source); without it only launched() works and says
// no. Environment variables of the launcher tell launched() and rank before MPI is initialised.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace cohort {

class MpiJob {
 public:
  // Whether an MPI launcher started this process.
  [[nodiscard]] static bool launched();
  // Whether the program was built with MPI.
  [[nodiscard]] static bool available();

  // Initialises MPI. After this all calls of MPI, also those of the backend, must be made by one
  // thread at a time. A rank that has not started within `start_limit` ends the others with exit
  // code 3 and a message that names it, where one host has all. Throws EnvironmentError.
  explicit MpiJob(std::chrono::milliseconds start_limit = std::chrono::seconds(30));
  // Finalises MPI, unless abandon() was called.
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  [[nodiscard]] std::uint32_t rank() const;
  [[nodiscard]] std::uint32_t size() const;
  // Host of every rank; the same at all. Collective.
  [[nodiscard]] std::vector<std::string> hosts();
  // Rank 0's text, at all ranks. Collective.
  [[nodiscard]] std::string broadcast(const std::string& text);
  // Lives as long as this.
  [[nodiscard]] Backend& backend();
  // Peers are dead or stuck, so finalising would hang: the destructor leaves MPI as it is, and the
  // process must end with std::_Exit.
  void abandon();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
