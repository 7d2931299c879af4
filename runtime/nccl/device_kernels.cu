#include <algorithm>

#include "runtime/nccl/device_kernels.h"

namespace cohort {
namespace {

constexpr long kThreads = 256;    // of a block
constexpr long kBlocks = 65'536;  // at most; of more entries a thread does several

template <class Body>
__global__ void kernel(long count, Body body) {
  const long stride = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
    body(i);
}

}  // namespace

template <class Body>
cudaError_t for_each(long count, const Body& body, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(std::min((count + kThreads - 1) / kThreads, kBlocks));
  kernel<<<blocks, kThreads, 0, stream>>>(count, body);
  return cudaGetLastError();
}

template cudaError_t for_each(long, const GatherBody&, cudaStream_t);
template cudaError_t for_each(long, const BiasBody&, cudaStream_t);
template cudaError_t for_each(long, const ReluBackwardBody&, cudaStream_t);
template cudaError_t for_each(long, const SoftmaxLossBody<float>&, cudaStream_t);
template cudaError_t for_each(long, const SpreadBody&, cudaStream_t);
template cudaError_t for_each(long, const CollectBody&, cudaStream_t);
template cudaError_t for_each(long, const PoolBody&, cudaStream_t);
template cudaError_t for_each(long, const UnpoolBody&, cudaStream_t);
template cudaError_t for_each(long, const QuadraticBody&, cudaStream_t);

}  // namespace cohort
