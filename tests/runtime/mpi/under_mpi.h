// Test programs of several ranks: started alone, the program starts itself under mpirun.
#pragma once

#include "runtime/mpi_job.h"

namespace cohort {

// This process's part in the job of ranks that runs the tests.
[[nodiscard]] MpiJob& mpi_job();

}  // namespace cohort
