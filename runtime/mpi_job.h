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
  // thread at a time. Where all ranks meet, here, in broadcast() and in leave(), one that does not
  // come within the limit ends the others with exit code 3 and a message that names it, where one
  // host has all. Throws EnvironmentError.
  explicit MpiJob(std::chrono::milliseconds start_limit = std::chrono::seconds(30));
  // Finalises MPI, unless leave() has.
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  [[nodiscard]] std::uint32_t rank() const;
  [[nodiscard]] std::uint32_t size() const;
  // Host of every rank; the same at all.
  [[nodiscard]] const std::vector<std::string>& hosts() const;
  // Rank 0's text, at all ranks. Collective, within `start_limit`.
  [[nodiscard]] std::string broadcast(const std::string& text);
  // Finalises MPI; of the rest only rank() and size() may be called afterwards. Returns rank 0's
  // exit code, at all ranks. Collective, within `limit`.
  [[nodiscard]] int leave(int exit_code, std::chrono::milliseconds limit = kLeaveLimit);
  // Lives as long as this.
  [[nodiscard]] Backend& backend();

  // Ends the process as it is, its output written: for when peers are dead or stuck, so that
  // finalising MPI would hang.
  [[noreturn]] static void quit(int exit_code);

 private:
  // All of them have heard of the job's end and have nothing else to do.
  static constexpr std::chrono::milliseconds kLeaveLimit{7'000};

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
