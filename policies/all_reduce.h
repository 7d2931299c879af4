// `all-reduce`: one group of all live workers, every step; the baseline of every comparison.
//
// The group starts when the last live worker is ready. A worker that leaves or is lost shrinks it;
// when it fails, the survivors start again under a new id. A lone live worker is released without a
// synchronisation.
#pragma once

#include "policies/registry.h"

namespace cohort {

[[nodiscard]] PolicyEntry all_reduce_entry();

}  // namespace cohort
