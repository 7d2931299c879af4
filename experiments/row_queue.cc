#include "experiments/row_queue.h"

namespace cohort {

std::optional<std::size_t> RowQueue::take() {
  constexpr std::chrono::milliseconds kLookUp{50};
  std::unique_lock lock(mutex_);
  for (;;) {
    if (error_) std::rethrow_exception(error_);
    if (finished_count_ == finished_.size()) return std::nullopt;
    if (stop_ != nullptr && *stop_) return std::nullopt;
    if (const auto row = waiting()) return row;
    if (const auto row = overdue()) return row;
    changed_.wait_for(lock, kLookUp);
  }
}

std::optional<std::size_t> RowQueue::lend() {
  const std::scoped_lock lock(mutex_);
  if (error_ || (stop_ != nullptr && *stop_)) return std::nullopt;
  const auto row = waiting();
  if (row) lent_.push_back({*row, Clock::now()});
  return row;
}

std::optional<std::size_t> RowQueue::waiting() {
  while (!returned_.empty()) {
    const auto row = returned_.back();
    returned_.pop_back();
    if (!finished_[row]) return row;
  }
  if (next_ < finished_.size()) return next_++;
  return std::nullopt;
}

std::optional<std::size_t> RowQueue::overdue() {
  while (!lent_.empty() && finished_[lent_.front().row]) lent_.pop_front();
  if (lent_.empty() || Clock::now() - lent_.front().since < patience_) return std::nullopt;
  const auto row = lent_.front().row;
  lent_.pop_front();
  return row;
}

void RowQueue::give_back(std::size_t row) {
  const std::scoped_lock lock(mutex_);
  returned_.push_back(row);
  changed_.notify_one();
}

void RowQueue::finish(std::size_t row) {
  const std::scoped_lock lock(mutex_);
  if (finished_[row]) return;
  finished_[row] = true;
  if (++finished_count_ == finished_.size()) changed_.notify_all();
}

void RowQueue::fail(std::exception_ptr error) {
  const std::scoped_lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

std::size_t RowQueue::finished() const {
  const std::scoped_lock lock(mutex_);
  return finished_count_;
}

}  // namespace cohort
