// Kernels of training on a GPU: a body of runtime/nccl/kernel_bodies.h for each index of a range,
// queued on a stream. Matrix products are cuBLAS's.
//
// One file, device_kernels.cu, is compiled by nvcc, as a custom target of Meson, and all else stays
// with the C++ compiler: no second language for the whole project, whose detection would run on
// every machine, and no compilation at run time by NVRTC, which would be one more library to find
// and to fail on each rank. Machine code for sm_80 and sm_90; PTX of compute_75 for all others.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/nccl/kernel_bodies.h"

namespace cohort {

// Instantiated for the bodies there; `count` is not 0. Returns how the launch went.
template <class Body>
[[nodiscard]] cudaError_t for_each(long count, const Body& body, cudaStream_t stream);

}  // namespace cohort
