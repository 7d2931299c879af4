// MPI's error codes as exceptions that name the call, this rank and MPI's own text.
#pragma once

#include <mpi.h>

#include <array>
#include <string>

#include "policies/errors.h"
#include "runtime/transport.h"

namespace cohort {

[[nodiscard]] inline std::string mpi_text(int code, const char* call) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return std::string(call) + " on rank " + std::to_string(rank) + ": " +
         std::string(text.data(), static_cast<std::size_t>(length));
}

// The process cannot go on.
inline void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw EnvironmentError(mpi_text(code, call));
}

// A synchronisation cannot.
inline void check_mpi_sync(int code, const char* call) {
  if (code != MPI_SUCCESS) throw SyncFailure(mpi_text(code, call));
}

}  // namespace cohort
