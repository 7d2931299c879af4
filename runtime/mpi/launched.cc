#include <cstdlib>

#include "runtime/mpi_job.h"

namespace cohort {

// Open MPI's mpirun; MPICH and Slurm's PMI; PMIx.
bool MpiJob::launched() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace cohort
