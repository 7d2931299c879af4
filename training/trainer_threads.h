// Threads that train, with one Trainer each.
//
// Work is handed in and its result asked for later, as a future. With a single thread there is no
// other one: the work is done by whoever asks for its result, then. Results do not depend on the
// number of threads, because a Trainer's answers do not depend on what it did before.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "training/worker_training.h"

namespace cohort {

template <typename T>
class TrainerThreads {
 public:
  // Keeps the reference. At least one thread; more than one: that many beside the caller's.
  TrainerThreads(const TrainingTask& task, unsigned threads) : task_(task) {
    idle_.push_back(std::make_unique<Trainer<T>>(task));
    parameters_ = idle_.front()->parameters();
    if (threads > 1) pool_.emplace(threads);
  }

  [[nodiscard]] std::size_t parameters() const { return parameters_; }
  // Whether work is done before its result is asked for.
  [[nodiscard]] bool ahead() const { return pool_.has_value(); }

  // `work` takes a Trainer<T>&. What it refers to must live until its result was asked for, or
  // stop() has returned.
  template <typename Work>
  [[nodiscard]] auto submit(Work work) {
    auto task = [this, work = std::move(work)]() mutable {
      const Lease lease(*this);
      return work(*lease.trainer);
    };
    using Result = decltype(task());
    if (!pool_) return std::async(std::launch::deferred, std::move(task));
    return std::future<Result>(boost::asio::post(*pool_, boost::asio::use_future(std::move(task))));
  }

  // Waits for what is being done; what has not begun never is.
  void stop() {
    if (!pool_) return;
    pool_->stop();
    pool_->join();
  }

 private:
  struct Lease {
    explicit Lease(TrainerThreads& all) : threads(all), trainer(all.borrow()) {}
    ~Lease() { threads.give_back(std::move(trainer)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    TrainerThreads& threads;
    std::unique_ptr<Trainer<T>> trainer;
  };

  std::unique_ptr<Trainer<T>> borrow() {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) return std::make_unique<Trainer<T>>(task_);
    auto trainer = std::move(idle_.back());
    idle_.pop_back();
    return trainer;
  }
  void give_back(std::unique_ptr<Trainer<T>> trainer) {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(trainer));
  }

  const TrainingTask& task_;
  std::size_t parameters_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Trainer<T>>> idle_;  // under mutex_, as any thread borrows one
  std::optional<boost::asio::thread_pool> pool_;   // last, so that its threads end first
};

}  // namespace cohort
