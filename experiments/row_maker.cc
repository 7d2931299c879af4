#include "experiments/row_maker.h"

namespace cohort {

FinishedRow RowMaker::make(std::uint32_t cell, std::uint32_t policy, std::uint64_t seed) {
  if (!cell_ || number_ != cell) {
    cell_ = experiment_.cell(cell);
    number_ = cell;
  }
  return run_row(tunings_.scenario(*cell_, cell, policy, seed, {.stop = stop_}), stop_);
}

}  // namespace cohort
