// `smart`: group buffer, randomised division, inter-intra and threshold ([SEMANTICS 2], [Luo
// 2020]).
//
// A request by w with an empty FIFO divides S, all i with an empty FIFO and c_w - c_i < threshold,
// where c_i counts the requests of i, this one included (policies/division.h). Each ingredient can
// be switched off: `threshold: null`; `inter_intra: false` (plain division by `group_size`);
// `division: false` (one random group of `group_size` from S with w); `group_buffer: false` (the
// same, drafted from all workers, whatever their FIFOs and counts: then the policy is `random`).
// With `inter_intra` null, the default, it is on when there are several nodes and each has more
// than one worker. Workers that left or were lost are never drafted.
#pragma once

#include "policies/registry.h"

namespace cohort {

[[nodiscard]] PolicyEntry smart_entry();

// Whether a run of `smart` with these resolved options divides by inter-intra, so that the output
// can say so.
[[nodiscard]] bool uses_inter_intra(const Options& options, const Topology& topology);

}  // namespace cohort
