#include "runtime/compute_thread.h"

#include <chrono>
#include <utility>

namespace cohort {
namespace {

constexpr std::chrono::microseconds kNap{50};

void await(Request& request) {
  while (!request.test()) std::this_thread::sleep_for(kNap);
}

}  // namespace

ComputeThread::ComputeThread(Replica& replica, std::unique_ptr<LocalStep> step, Hooks hooks)
    : replica_(replica),
      step_(std::move(step)),
      hooks_(std::move(hooks)),
      thread_([this] { work(); }) {}

ComputeThread::~ComputeThread() {
  replica_.over = true;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ComputeThread::release(const message::Release& release) {
  {
    const std::scoped_lock lock(mutex_);
    releases_.push_back(release);
    if (release.snapshot) ++snapshots_due_;
  }
  changed_.notify_all();
}

void ComputeThread::await_snapshots() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return snapshots_due_ == 0 || stopped_; });
}

void ComputeThread::work() try {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || !releases_.empty(); });
    if (releases_.empty()) return;
    const auto release = releases_.front();
    releases_.pop_front();
    lock.unlock();
    carry_out(release);
    lock.lock();
  }
} catch (...) {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  hooks_.failed(std::current_exception());
}

void ComputeThread::carry_out(const message::Release& release) {
  if (release.snapshot) take_snapshot();
  resume(release);
  if (!release.last && !replica_.over) compute(release);
}

void ComputeThread::resume(const message::Release& release) {
  const std::scoped_lock lock(replica_.mutex);
  step_->resume(replica_, release.step);
}

void ComputeThread::take_snapshot() {
  {
    const std::scoped_lock lock(replica_.mutex);
    auto& snapshot = replica_.snapshot;
    const auto& parameters = replica_.parameters;
    if (snapshot.count() == 0) snapshot = Buffer(replica_.unit(), parameters.count());
    replica_.unit().copy(parameters.entries(), snapshot.entries(), parameters.count());
    await(*replica_.unit().fence());
  }
  {
    const std::scoped_lock lock(mutex_);
    --snapshots_due_;
  }
  changed_.notify_all();
}

void ComputeThread::compute(const message::Release& release) {
  message::Ready ready{.step = release.step, .began = hooks_.now(), .ended = {}};
  const bool finite = step_->compute(replica_, release.step, release.work);
  if (replica_.over) return;
  if (!finite) return hooks_.diverged(release.step);
  apply(release.step);
  ready.ended = hooks_.now();
  hooks_.ready(ready);
}

void ComputeThread::apply(std::uint64_t step) {
  std::unique_ptr<Request> fence;
  {
    const std::scoped_lock lock(replica_.mutex);
    step_->apply(replica_, step);
    const auto& published = replica_.published[step % 2];
    if (published.count() > 0) {
      replica_.unit().copy(replica_.parameters.entries(), published.entries(), published.count());
    }
    fence = replica_.unit().fence();
  }
  await(*fence);
}

}  // namespace cohort
