// The mixing rate of each registered policy with given options, for `cohort policies NAME
// --mixing`.
//
// A rate is exact where SEMANTICS 4 has a closed form or the policy's schedule is fixed (its own
// object is run and the product taken); otherwise it is estimated from a run of the policy's own
// object in which everybody is idle, and says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policies/registry.h"
#include "training/mixing.h"

namespace cohort {

struct MixingRate {
  std::string quantity;  // "rho", "lambda_2(P'P)", "spectral radius of P - J/n"
  double value = 0;
  bool exact = true;
  std::string meaning;  // one sentence: of what, per what, how found
};

struct MixingReport {
  std::vector<MixingRate> rates{};  // empty: the policy has none, see note
  std::string note{};               // empty, or a sentence to print with the rates
  // The mean matrix E[W] of the unit that the rates are of, or its product P; n by n; empty where
  // there is no rate.
  MixingMatrix matrix{};
};

// `options` are resolved and checked; `timing` does not matter and is ignored. Cost grows with n^3.
// Throws InputError
// ("--workers") above 512 workers.
[[nodiscard]] MixingReport mixing_report(const PolicyEntry& entry, const Options& options,
                                         const Topology& topology, std::uint64_t seed);

}  // namespace cohort
