// TEST DOUBLE. A thread that runs what is posted, in order: a CUDA stream, or the background thread
// of a communicator that does not block.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace stand_in {

class TaskQueue {
 public:
  TaskQueue();
  ~TaskQueue();  // runs what is posted to its end
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  void post(std::function<void()> task);
  // Waits until all that is posted is over.
  void drain();
  [[nodiscard]] bool idle();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool busy_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace stand_in
