// The `nccl` backend is a shared module beside the program, loaded when it is asked for: neither
// CUDA nor NCCL is needed, or loaded, otherwise. The tests load a stand-in of it on host memory
// through the same door.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/backend.h"

namespace cohort {

struct NcclOptions {
  std::uint32_t rank = 0;        // of the job; the transport finds itself among members by it
  std::uint32_t local_rank = 0;  // among this host's ranks: picks the GPU, modulo their number
  bool share_gpus = false;       // several ranks on one GPU are meant: a test
};

// `module`: path of the shared object; "": cohort_nccl.so beside the program or where it is
// installed. Throws EnvironmentError: not built, not loadable, no GPU.
[[nodiscard]] std::unique_ptr<Backend> load_nccl_backend(const std::string& module,
                                                         const NcclOptions& options);

// What a module exports under the name `cohort_make_nccl_backend`.
using MakeNcclBackend = Backend* (*)(const NcclOptions&);

}  // namespace cohort
