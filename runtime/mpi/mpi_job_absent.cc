#include "policies/errors.h"
#include "runtime/mpi_job.h"

namespace cohort {
namespace {

[[noreturn]] void refuse() {
  throw EnvironmentError(
      "this program was built without MPI: install Open MPI (libopenmpi-dev) and build again");
}

}  // namespace

struct MpiJob::State {};

bool MpiJob::available() { return false; }
MpiJob::MpiJob(std::chrono::milliseconds) { refuse(); }
MpiJob::~MpiJob() = default;
std::uint32_t MpiJob::rank() const { refuse(); }
std::uint32_t MpiJob::size() const { refuse(); }
const std::vector<std::string>& MpiJob::hosts() const { refuse(); }
std::string MpiJob::broadcast(const std::string&) { refuse(); }
Backend& MpiJob::backend() { refuse(); }
int MpiJob::leave(int, std::chrono::milliseconds) { refuse(); }
void MpiJob::quit(int) { refuse(); }

}  // namespace cohort
