/* Preloaded into one rank: stops it as it enters the call of MPI that STOP_IN names, such as MPI_Bcast:3 for the third. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void enter(const char* call) {
  static int broadcasts = 0;
  char here[32];
  const char* where = getenv("STOP_IN");
  snprintf(here, sizeof here, "%s:%d", call, strcmp(call, "MPI_Bcast") == 0 ? ++broadcasts : 1);
  if (where != NULL && strcmp(where, here) == 0) raise(SIGSTOP);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
  enter("MPI_Bcast");
  return PMPI_Bcast(buffer, count, type, root, communicator);
}

int MPI_Finalize(void) {
  enter("MPI_Finalize");
  return PMPI_Finalize();
}
