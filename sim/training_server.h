// The parameter servers' replica ([SEMANTICS 2]): one for all shards, because an update acts on
// each number alone. It has an optimiser of its own.
#pragma once

#include <cstdint>

#include "training/sgd.h"
#include "training/shared_rows.h"

namespace cohort {

template <typename T>
class TrainingServer {
 public:
  // Keeps the references.
  TrainingServer(const SgdOptions& options, RowPool<T>& rows, Row<T> initial);

  void add(Row<T> gradient);
  // One update with the mean of what was added since the last, at least one gradient.
  void update(double rate);

  // The next update leaves a row that others hold as it is.
  [[nodiscard]] const Row<T>& parameters() const { return parameters_; }
  [[nodiscard]] std::uint64_t updates() const { return updates_; }

 private:
  const SgdOptions& options_;
  RowPool<T>& rows_;
  Row<T> parameters_, velocity_, sum_{};
  std::uint64_t added_ = 0, updates_ = 0;
};

}  // namespace cohort
