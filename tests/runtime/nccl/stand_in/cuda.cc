// TEST DOUBLE of the CUDA runtime: see include/cuda_runtime_api.h and cuda.h.
#include "cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "settings.h"

namespace stand_in {
namespace {

thread_local int device_of_this_thread = 0;

int gpus() { return setting("COHORT_STAND_IN_GPUS", 16); }

cudaError_t answer(const char* call) {
  return next_fault(call) == Fault::None ? cudaSuccess : cudaErrorUnknown;
}

}  // namespace

int current_device() { return device_of_this_thread; }

void EventState::wait_for(std::uint64_t record) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return reached >= record; });
}

}  // namespace stand_in

using stand_in::answer;
using stand_in::EventState;

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    default:
      return "stand-in error";
  }
}

cudaError_t cudaGetDeviceCount(int* count) {
  stand_in::be_late();
  *count = stand_in::gpus();
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= stand_in::gpus()) return cudaErrorInvalidDevice;
  stand_in::device_of_this_thread = device;
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0",
                static_cast<unsigned>(device));
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "stand-in on host memory");
  properties->uuid.bytes[15] = static_cast<char>(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream->queue.drain();
  return answer("cudaStreamSynchronize");
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return stream->queue.idle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  stream->queue.post(
      [state = event->state, record = event->state->asked] { state->wait_for(record); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event->device != stream->device) return cudaErrorInvalidValue;
  std::uint64_t record = 0;
  {
    const std::lock_guard lock(event->state->mutex);
    record = ++event->state->asked;
  }
  stream->queue.post([state = event->state, record] {
    const std::lock_guard lock(state->mutex);
    state->reached = record;
    state->when = std::chrono::steady_clock::now();
    state->changed.notify_all();
  });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto fault = answer("cudaEventQuery");
  if (fault != cudaSuccess) return fault;
  const std::lock_guard lock(event->state->mutex);
  return event->state->reached == event->state->asked ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  event->state->wait_for(event->state->asked);
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->timed || !end->timed) return cudaErrorInvalidValue;
  const std::chrono::duration<float, std::milli> taken = end->state->when - begin->state->when;
  *milliseconds = taken.count();
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t) {
  if (answer("cudaMallocAsync") != cudaSuccess) return cudaErrorMemoryAllocation;
  *memory = std::malloc(bytes);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xff, bytes);  // NaN: what is read before it is written shows
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  stream->queue.post([memory] { std::free(memory); });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  const auto fault = answer("cudaMemcpyAsync");
  if (fault == cudaSuccess) stream->queue.post([=] { std::memmove(to, from, bytes); });
  return fault;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  stream->queue.post([=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}
