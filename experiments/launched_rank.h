// Which rank of a launcher's job this process is, as the launcher's environment says: Open MPI's
// mpirun, MPICH's and others' PMI, Slurm's srun. No call of MPI is made.
#pragma once

#include <cstdint>
#include <optional>

namespace cohort {

struct LaunchedRank {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  bool one_host = false;  // all ranks of the job are known to be on this host
};

// None: no launcher, or a job of one rank. Slurm's variables count only inside a step (srun): a
// batch script has them too.
[[nodiscard]] std::optional<LaunchedRank> launched_rank();

}  // namespace cohort
