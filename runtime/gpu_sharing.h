// The start-up check of the nccl backend: one rank for each GPU. NCCL itself would hang or fail
// later, and without saying who.
#pragma once

#include <vector>

#include "runtime/job_server.h"

namespace cohort {

// `ranks`: what every rank said in its hello. Throws InputError that names the first two ranks, in
// order of rank, that are on the same GPU of the same host. Ranks without a GPU share nothing.
void refuse_shared_gpus(const std::vector<RankFacts>& ranks);

}  // namespace cohort
