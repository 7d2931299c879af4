#include "traces/file_kind.h"

#include <fmt/format.h>

#include <array>

#include "policies/errors.h"
#include "traces/hostfile.h"
#include "traces/nccl_tests.h"
#include "traces/profiler_trace.h"
#include "traces/recording.h"
#include "traces/topology_matrix.h"
#include "traces/training_log.h"

namespace cohort {
namespace {

struct Sign {
  FileKind kind;
  bool (*found_in)(std::string_view text);
};

// In this order: a training log may end as a failed run of nccl-tests does, and the last ones have
// the weakest signs.
constexpr std::array kSigns = {
    Sign{FileKind::ProfilerTrace, is_profiler_trace}, Sign{FileKind::ComputeTrace, is_recording},
    Sign{FileKind::Topology, is_topology_matrix},     Sign{FileKind::TrainingLog, is_training_log},
    Sign{FileKind::NcclTests, is_nccl_log},           Sign{FileKind::Hostfile, is_hostfile},
};

}  // namespace

FileKind kind_of(const TextFile& file) {
  for (const Sign& sign : kSigns) {
    if (sign.found_in(file.text)) return sign.kind;
  }
  throw InputError(file.name,
                   fmt::format("is {}of no known kind; allowed: a log of nccl-tests, the log of a "
                               "training with workers and epochs, a trace of PyTorch's profiler "
                               "(JSON), what nvidia-smi topo -m prints, a hostfile of Open MPI "
                               "(name slots=N)",
                               file.text.empty() ? "empty and " : ""));
}

}  // namespace cohort
