// The `nccl` backend: one GPU, vectors in its memory, NCCL between the ranks. What the shared
// module consists of; the program reaches it through runtime/nccl_module.h alone.
#pragma once

#include "runtime/backend.h"
#include "runtime/nccl_module.h"

// Throws EnvironmentError: no GPU, or a call of CUDA or cuBLAS that fails. The caller owns the
// result. With NcclOptions::share_gpus it sets NCCL_HOSTID in the environment, so that NCCL takes
// the ranks for those of different hosts and lets them share a GPU.
extern "C" cohort::Backend* cohort_make_nccl_backend(const cohort::NcclOptions& options);
