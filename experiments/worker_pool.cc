#include "experiments/worker_pool.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cohort {
namespace {

class Pool {
 public:
  Pool(std::size_t count, const std::function<void(std::size_t)>& work, const PoolOptions& options)
      : count_(count), work_(work), options_(options) {}

  std::size_t run() {
    std::vector<std::jthread> threads;
    const auto jobs = std::clamp<std::size_t>(options_.jobs, 1, std::max<std::size_t>(count_, 1));
    running_ = jobs;
    for (std::size_t i = 0; i < jobs; ++i) threads.emplace_back([this] { serve(); });
    wait();
    if (options_.tick) options_.tick(done_);
    if (error_) std::rethrow_exception(error_);
    return done_;
  }

 private:
  void serve() {
    while (!stopped()) {
      const auto piece = next_++;
      if (piece >= count_) break;
      try {
        work_(piece);
        ++done_;
      } catch (...) {
        fail();
      }
    }
    const std::scoped_lock lock(mutex_);
    --running_;
    changed_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, options_.interval, [this] { return running_ == 0; })) {
      lock.unlock();
      report();
      lock.lock();
    }
  }
  // What the report throws (a full disk) stops the pool as an exception of a piece of work does.
  void report() {
    try {
      if (options_.tick) options_.tick(done_);
    } catch (...) {
      fail();
    }
  }
  void fail() {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::current_exception();
    failed_ = true;
  }
  [[nodiscard]] bool stopped() const {
    return failed_ || (options_.stop != nullptr && *options_.stop);
  }

  std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  const PoolOptions& options_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // guards the three below
  std::condition_variable changed_;
  std::size_t running_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::size_t run_pool(std::size_t count, const std::function<void(std::size_t)>& work,
                     const PoolOptions& options) {
  return Pool(count, work, options).run();
}

}  // namespace cohort
