// `cohort run SPEC`: every cell, policy and seed of a spec for real, on ranks that an MPI launcher
// started, or on ranks of this machine that this command starts itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/spec_arguments.h"
#include "experiments/run_spec.h"

namespace cohort {

struct RunArguments {
  SpecArguments spec;                  // `jobs` means nothing here: a real run has one job
  std::optional<BackendKind> backend;  // none: the spec's
  std::optional<OnLoss> on_loss;       // likewise
  std::optional<std::uint32_t> ranks;  // to start on this machine
  std::string out;                     // empty: a table or JSON alone
  bool json = false;
  bool verify = false;
  bool timeline = false;
  bool share_gpus = false;
};

// What a rank that this command started itself needs; the rest stands in its environment
// (runtime/local_ranks.h).
struct LocalRankArguments {
  SpecArguments spec;
  bool share_gpus = false;
};

// Whether this build has real runs; whether it, and this machine, have what a backend needs.
[[nodiscard]] bool can_run();
[[nodiscard]] bool can_run(BackendKind backend);

// Exit codes (cli/exit_codes.h). May end the process itself, after a loss, where MPI could not be
// left in order.
[[nodiscard]] int run_spec(const RunArguments& arguments);
[[nodiscard]] int run_local_rank(const LocalRankArguments& arguments);

}  // namespace cohort
