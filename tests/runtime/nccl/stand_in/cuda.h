// TEST DOUBLE. Streams and events on host memory: what is behind the handles.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cuda_runtime_api.h"
#include "task_queue.h"

namespace stand_in {

// Of the calling thread.
[[nodiscard]] int current_device();

// Every record of an event has a number; the event is reached when the last one asked for is.
struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t asked = 0;
  std::uint64_t reached = 0;
  std::chrono::steady_clock::time_point when;

  void wait_for(std::uint64_t record);
};

}  // namespace stand_in

struct CUstream_st {
  int device = stand_in::current_device();
  stand_in::TaskQueue queue;
};

// Destroyed while a stream has still to reach it, its state lives on there.
struct CUevent_st {
  int device = stand_in::current_device();
  bool timed = false;
  std::shared_ptr<stand_in::EventState> state = std::make_shared<stand_in::EventState>();
};
