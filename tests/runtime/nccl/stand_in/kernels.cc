// TEST DOUBLE of the kernels of training: the same bodies, index by index, on the stream's thread.
#include "cuda.h"
#include "runtime/nccl/device_kernels.h"
#include "settings.h"

namespace cohort {

template <class Body>
cudaError_t for_each(long count, const Body& body, cudaStream_t stream) {
  if (stand_in::next_fault("for_each") != stand_in::Fault::None) return cudaErrorUnknown;
  stream->queue.post([count, body] {
    for (long i = 0; i < count; ++i) body(i);
  });
  return cudaSuccess;
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
