// Every rank says its host. Rank 0 sends as many megabytes as the argument says to the last rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size;
  char host[256];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  const int bytes = argc > 1 ? atoi(argv[1]) * 1000000 : 1;
  char* payload = calloc(bytes, 1);
  if (rank == 0) MPI_Send(payload, bytes, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
  if (rank == size - 1) MPI_Recv(payload, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d %s\n", rank, host);
  free(payload);
  MPI_Finalize();
  return 0;
}
