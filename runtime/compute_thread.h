// The thread that runs a worker's local steps: waits for a release, takes the snapshot that it asks
// for, resumes, computes, updates, publishes, reports ready. One per run.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/local_step.h"
#include "runtime/messages.h"

namespace cohort {

class ComputeThread {
 public:
  // Called on the thread.
  struct Hooks {
    std::function<Time()> now;
    std::function<void(const message::Ready&)> ready;
    std::function<void(std::uint64_t step)> diverged;  // in place of ready, and of all that follow
    std::function<void(std::exception_ptr)> failed;    // at most once; the thread ends with it
  };

  ComputeThread(Replica& replica, std::unique_ptr<LocalStep> step, Hooks hooks);
  // Sets Replica::over, resumes after the releases that have come, and waits for the step under
  // way; that changes nothing and is not reported.
  ~ComputeThread();

  void release(const message::Release& release);  // any thread
  // Waits until all snapshots that releases asked for are taken, or the thread has failed.
  void await_snapshots();

 private:
  void work();
  void carry_out(const message::Release& release);
  void take_snapshot();
  void resume(const message::Release& release);
  void compute(const message::Release& release);
  void apply(std::uint64_t step);

  Replica& replica_;
  std::unique_ptr<LocalStep> step_;
  Hooks hooks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<message::Release> releases_;
  unsigned snapshots_due_ = 0;
  bool stopped_ = false;
  std::thread thread_;  // last: begins when the rest is there
};

}  // namespace cohort
