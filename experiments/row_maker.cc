#include "experiments/row_maker.h"

namespace cohort {

FinishedRow RowMaker::make(std::uint32_t cell, std::uint32_t policy, std::uint64_t seed) {
  if (!cell_ || number_ != cell) {
    cell_ = experiment_.cell(cell);
    number_ = cell;
  }
  return run_row(cell_->scenario(cell_->policies.at(policy), seed), stop_);
}

}  // namespace cohort
