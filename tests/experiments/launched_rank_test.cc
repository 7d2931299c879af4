#include "experiments/launched_rank.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <map>
#include <string>

namespace cohort {
namespace {

// The rank that these variables tell of, without those of whoever started the test.
std::optional<LaunchedRank> told(const std::map<std::string, std::string>& variables) {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_RANK",
        "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"})
    ::unsetenv(name);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return launched_rank();
}

}  // namespace

TEST_CASE("launched rank: mpirun of Open MPI tells rank, size and whether one host has all") {
  const auto rank = told({{"OMPI_COMM_WORLD_RANK", "2"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  REQUIRE(rank);
  CHECK(rank->rank == 2);
  CHECK(rank->ranks == 4);
  CHECK_FALSE(rank->one_host);
  CHECK(told({{"OMPI_COMM_WORLD_RANK", "2"},
              {"OMPI_COMM_WORLD_SIZE", "4"},
              {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}})
            ->one_host);
}

TEST_CASE("launched rank: MPICH's mpiexec tells the same") {
  const auto rank = told({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "3"}});
  REQUIRE(rank);
  CHECK(rank->rank == 0);
  CHECK(rank->ranks == 3);
  CHECK(rank->one_host);
}

TEST_CASE("launched rank: srun tells rank and size, not who shares a host") {
  const auto rank = told({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "16"}});
  REQUIRE(rank);
  CHECK(rank->rank == 5);
  CHECK(rank->ranks == 16);
  CHECK_FALSE(rank->one_host);
}

TEST_CASE("launched rank: mpirun inside a step of Slurm is the launcher") {
  const auto rank = told({{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_STEP_NUM_TASKS", "2"}});
  REQUIRE(rank);
  CHECK(rank->rank == 1);
  CHECK(rank->ranks == 4);
}

TEST_CASE("launched rank: no launcher, a batch script of Slurm and a job of one rank are none") {
  CHECK_FALSE(told({}));
  CHECK_FALSE(told({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}));
  CHECK_FALSE(told({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}));
}

TEST_CASE("launched rank: what is no number, or no rank of that many, is none") {
  CHECK_FALSE(told({{"PMI_RANK", "one"}, {"PMI_SIZE", "3"}}));
  CHECK_FALSE(told({{"PMI_RANK", "3"}, {"PMI_SIZE", "3"}}));
  CHECK_FALSE(told({{"PMI_RANK", "-1"}, {"PMI_SIZE", "3"}}));
}

}  // namespace cohort
