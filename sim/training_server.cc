#include "sim/training_server.h"

#include <algorithm>
#include <utility>

#include "training/averages.h"

namespace cohort {

template <typename T>
TrainingServer<T>::TrainingServer(const SgdOptions& options, RowPool<T>& rows, Row<T> initial)
    : options_(options), rows_(rows), parameters_(std::move(initial)) {
  if (options.momentum == 0) return;
  velocity_ = rows.take();
  std::ranges::fill(velocity_->writable(), T{0});
}

template <typename T>
void TrainingServer<T>::add(Row<T> gradient) {
  if (added_++ == 0) {
    sum_ = std::move(gradient);
  } else {
    add_weighted<T>(1, gradient->numbers(), sum_->writable());
  }
}

template <typename T>
void TrainingServer<T>::update(double rate) {
  const auto sum = sum_->writable();
  if (added_ > 1)
    for (auto& number : sum) number /= static_cast<T>(added_);
  const Row<T> to = rows_.successor(parameters_);
  const auto velocity = velocity_ ? velocity_->writable() : std::span<T>{};
  sgd_update<T>(options_, rate, {sum, parameters_->numbers(), velocity, to->writable(), velocity});
  parameters_ = to;
  sum_.reset();
  added_ = 0;
  ++updates_;
}

template class TrainingServer<float>;
template class TrainingServer<double>;

}  // namespace cohort
